package opencl

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// A code is what a function of OpenCL answers: 0 or a negative error.
type code int32

// An Error is a call of OpenCL that failed. It always wraps the meaning of its
// code: [device.ErrOutOfMemory], [device.ErrDeviceLost] or
// [device.ErrUnavailable].
type Error struct {
	Call string // such as clCreateBuffer
	Code int32  // such as -4
	// Detail says what was asked for. It may be "".
	Detail string
}

func (e *Error) Error() string {
	detail := e.Detail
	if detail != "" {
		detail = " of " + detail
	}
	return fmt.Sprintf("opencl: %s%s: %s (%d): %v", e.Call, detail, nameOf(code(e.Code)), e.Code, e.Unwrap())
}

// Unwrap returns the meaning of the code. For codes of bad arguments it is
// ErrUnavailable: this package checks arguments before the call, so a driver that
// refuses them cannot do what it was asked.
func (e *Error) Unwrap() error { return meanings[code(e.Code)].meaning() }

// A meaning is the name of a code and the error that it stands for, nil for ErrUnavailable.
type meaning struct {
	name string
	err  error
}

func (m meaning) meaning() error {
	if m.err == nil {
		return device.ErrUnavailable
	}
	return m.err
}

// Codes that the package itself looks at.
const (
	succeeded    code = 0
	noDevice     code = -1
	failedAlloc  code = -4
	failedInWait code = -14
)

// meanings names the codes that a driver has reason to give here. Out of
// memory are the three that pyopencl takes for it too, a size beyond the
// device's own limit, and no place to map memory to. A device is lost when it
// says so or when objects that were valid no longer are, which is how drivers
// tell after a fault.
var meanings = map[code]meaning{
	-1:    {"CL_DEVICE_NOT_FOUND", nil},
	-2:    {"CL_DEVICE_NOT_AVAILABLE", device.ErrDeviceLost},
	-4:    {"CL_MEM_OBJECT_ALLOCATION_FAILURE", device.ErrOutOfMemory},
	-5:    {"CL_OUT_OF_RESOURCES", device.ErrOutOfMemory},
	-6:    {"CL_OUT_OF_HOST_MEMORY", device.ErrOutOfMemory},
	-8:    {"CL_MEM_COPY_OVERLAP", nil},
	-12:   {"CL_MAP_FAILURE", device.ErrOutOfMemory},
	-13:   {"CL_MISALIGNED_SUB_BUFFER_OFFSET", nil},
	-14:   {"CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", nil},
	-30:   {"CL_INVALID_VALUE", nil},
	-32:   {"CL_INVALID_PLATFORM", nil},
	-33:   {"CL_INVALID_DEVICE", device.ErrDeviceLost},
	-34:   {"CL_INVALID_CONTEXT", device.ErrDeviceLost},
	-35:   {"CL_INVALID_QUEUE_PROPERTIES", nil},
	-36:   {"CL_INVALID_COMMAND_QUEUE", device.ErrDeviceLost},
	-38:   {"CL_INVALID_MEM_OBJECT", nil},
	-57:   {"CL_INVALID_EVENT_WAIT_LIST", nil},
	-58:   {"CL_INVALID_EVENT", nil},
	-59:   {"CL_INVALID_OPERATION", nil},
	-61:   {"CL_INVALID_BUFFER_SIZE", device.ErrOutOfMemory},
	-1001: {"CL_PLATFORM_NOT_FOUND_KHR", nil},
	-9999: {"illegal access, as one vendor tells it", device.ErrDeviceLost},
}

func nameOf(c code) string {
	if m, ok := meanings[c]; ok {
		return m.name
	}
	return "a code without a name here"
}

// failed is nil for success.
func failed(c code, call, detail string, args ...any) error {
	if c == succeeded {
		return nil
	}
	return &Error{Call: call, Code: int32(c), Detail: fmt.Sprintf(detail, args...)}
}
