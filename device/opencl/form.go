package opencl

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

func always(Info) string { return "" }

// forms are those that a name can end in. Pinned memory is opened by way of
// the device that it is pinned for.
var forms = []*form{
	{name: "", make: newImmediate, lacks: always, buffers: true},
	{name: "deferred", make: newDeferred, lacks: always, buffers: true, deferred: true},
	{name: "svm", make: newCoarse, lacks: func(i Info) string { return without(i.SVM, "shared virtual memory") }},
	{name: "svm-fine", make: newFine,
		lacks: func(i Info) string { return without(i.SVMFine, "fine-grained shared virtual memory") }},
}

var pinned = &form{name: "pinned", make: newPinned, lacks: always, host: true}

func without(has bool, what string) string {
	if has {
		return ""
	}
	return "has no " + what
}

func formOf(name string) (*form, error) {
	for _, f := range forms {
		if f.name == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("opencl: no form %q, only deferred, svm, svm-fine and pinned: %w", name,
		device.ErrUnavailable)
}
