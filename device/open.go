package device

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An opener gets the part of a name behind the colon, "" where there is none.
type opener = func(rest string) (Device, error)

// registry starts with the devices of this package; other packages add theirs.
var registry = struct {
	sync.RWMutex
	openers map[string]opener
}{openers: map[string]opener{
	"heap":    openHeap,
	"mmap":    openMmap,
	"virtual": openVirtual,
}}

// elsewhere says how to get schemes that a program has to import or build in.
var elsewhere = map[string]string{
	"cuda":   "; build with CGO_ENABLED=1 and -tags cuda and import github.com/bufslab/bufslab/device/cuda",
	"opencl": "; import github.com/bufslab/bufslab/device/opencl, or build the command bufslab with -tags opencl",
	"metal":  "; import github.com/bufslab/bufslab/device/metal, or build the command bufslab with -tags metal",
	"sim":    "; import github.com/bufslab/bufslab/device/sim",
}

// Open returns the device of the given name, which is a scheme or scheme:rest:
//
//	heap                         Go memory
//	mmap, mmap:fixed             memory outside the Go heap; fixed cannot Reserve
//	mmap:huge, mmap:small        the same on Linux, whose ranges have pages of 2 MiB where there are any, or never;
//	                             small on Windows, too
//	virtual, virtual:fixed,SIZE  addresses without memory; SIZE limits how many
//	NAME:pinned                  page-locked host memory of the device NAME, a [Pinner]
//
// Packages such as device/sim add schemes when a program imports them.
// [ParseSize] reads SIZE. Two calls give two devices. The error wraps
// [ErrUnavailable] when the scheme is unknown, the device is missing or the
// device cannot use rest, and [ErrSize] when rest holds a bad size.
// Open is safe for concurrent use.
func Open(name string) (Device, error) {
	if parent, is := strings.CutSuffix(name, pinnedSuffix); is {
		return openPinned(parent)
	}
	scheme, rest, colon := strings.Cut(name, ":")
	if colon && rest == "" {
		return nil, fmt.Errorf("device: nothing after the colon of %q: %w", name, ErrUnavailable)
	}
	registry.RLock()
	open := registry.openers[scheme]
	registry.RUnlock()
	if open == nil {
		return nil, fmt.Errorf("device: no scheme %q among %s%s: %w",
			scheme, strings.Join(Schemes(), ", "), elsewhere[scheme], ErrUnavailable)
	}
	d, err := open(rest) // without the lock: a device may be made of others
	if err == nil && d == nil {
		err = fmt.Errorf("device: scheme %q opened no device: %w", scheme, ErrUnavailable)
	}
	return d, err
}

// Register makes [Open] call open for the names of a scheme. A device's package calls
// Register from an init function. It panics if scheme is empty, holds a colon or
// is taken, or if open is nil. It is safe for concurrent use.
func Register(scheme string, open func(rest string) (Device, error)) {
	if scheme == "" || strings.Contains(scheme, ":") {
		panic(fmt.Sprintf("device: Register of scheme %q, which no name can begin with", scheme))
	}
	if open == nil {
		panic(fmt.Sprintf("device: Register of scheme %q with a nil function", scheme))
	}
	registry.Lock()
	defer registry.Unlock()
	if registry.openers[scheme] != nil {
		panic(fmt.Sprintf("device: Register of scheme %q, which is taken", scheme))
	}
	registry.openers[scheme] = open
}

// Schemes returns the schemes that Open knows, sorted. A scheme may be known
// and have no device on this machine.
func Schemes() []string {
	registry.RLock()
	defer registry.RUnlock()
	names := make([]string, 0, len(registry.openers))
	for s := range registry.openers {
		names = append(names, s)
	}
	slices.Sort(names)
	return names
}
