package metal

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// An Error is a call of Metal that failed, or work that did. It always wraps one of
// [device.ErrOutOfMemory], [device.ErrDeviceLost] and [device.ErrUnavailable].
type Error struct {
	Call string // the method, such as newBufferWithLength:options:
	// Code is the MTLCommandBufferError of work that failed, 0 where a method returned nil.
	Code int
	// Text is what Metal says of it. It may be "".
	Text   string
	Detail string // what was asked for
}

func (e *Error) Error() string {
	what := "returned nil"
	if e.Code != 0 {
		what = fmt.Sprintf("%s (%d)", nameOf(e.Code), e.Code)
	}
	if e.Text != "" {
		what += ", " + e.Text
	}
	return fmt.Sprintf("metal: %s of %s: %s: %v", e.Call, e.Detail, what, e.Unwrap())
}

// Unwrap returns what the failure means here.
func (e *Error) Unwrap() error {
	if e.Code == 0 && e.Call == selectorNames[selNewBuffer] {
		return device.ErrOutOfMemory
	}
	if err := codes[e.Code].err; err != nil {
		return err
	}
	return device.ErrUnavailable
}

const outOfMemory = 8

// codes are those of MTLCommandBufferError. A GPU that is gone, or that no longer takes work of this
// process, is lost; after the others it works on.
var codes = map[int]struct {
	name string
	err  error
}{
	1:           {"internal error", nil},
	2:           {"timeout", nil},
	3:           {"page fault", nil},
	4:           {"access revoked", device.ErrDeviceLost},
	7:           {"not permitted", nil},
	outOfMemory: {"out of memory", device.ErrOutOfMemory},
	9:           {"invalid resource", nil},
	10:          {"memoryless", nil},
	11:          {"device removed", device.ErrDeviceLost},
	12:          {"stack overflow", nil},
}

func nameOf(code int) string {
	if c, ok := codes[code]; ok {
		return c.name
	}
	return "a code without a name here"
}

// isNil is the error of a method that returned nil.
func isNil(s selector, detail string, args ...any) error {
	return &Error{Call: selectorNames[s], Detail: fmt.Sprintf(detail, args...)}
}

// outcome returns for what a command buffer failed, nil if it did not. It needs a pool.
func (a *api) outcome(buffer id, detail string) error {
	if a.tell(buffer, selStatus) != statusFailed {
		return nil
	}
	e := a.ask(buffer, selError)
	code := int(a.tell(e, selCode))
	if code == 0 {
		code = 1 // it has failed, and does not say for what
	}
	return &Error{Call: selectorNames[selCommit], Code: code, Text: a.text(a.ask(e, selDescription)), Detail: detail}
}
