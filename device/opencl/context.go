package opencl

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A context is what all devices of one number share, so that their blocks can
// be used together: a cl_context, and a queue for work that a call waits
// for. Devices, regions, streams and events each hold a reference, and calls that
// make one; with the last it goes.
type context struct {
	*hardware
	id    contextID
	queue queueID
	refs  int // under hardware.mu
	lost  atomic.Pointer[Error]
	book  sync.Mutex // of what streams have under way and why they failed; nothing is waited for under it
}

// open returns the context of the device, a new one if there is none that works.
func (h *hardware) open() (*context, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.shared; c != nil && c.lost.Load() == nil {
		c.refs++
		return c, nil
	}
	c, err := h.newContext()
	if err != nil {
		return nil, unavailable(err)
	}
	h.shared = c
	return c, nil
}

func (h *hardware) newContext() (*context, error) {
	var k code
	properties := [...]uintptr{contextPlatform, uintptr(h.platform), 0}
	id := h.CreateContext(&properties[0], 1, &h.id, 0, 0, &k)
	if err := failed(k, "clCreateContext", "%s", h.Info.Name); err != nil {
		return nil, err
	}
	c := &context{hardware: h, id: id, refs: 1}
	var err error
	if c.queue, err = c.newQueue(); err != nil {
		h.ReleaseContext(id)
		return nil, err
	}
	return c, nil
}

// newQueue returns a queue that does its work in order.
func (c *context) newQueue() (queueID, error) {
	var k code
	q := c.CreateCommandQueue(c.id, c.hardware.id, 0, &k)
	return q, c.failed(k, "clCreateCommandQueue", "%s", c.Info.Name)
}

func (c *context) retain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refs++
}

// release drops a reference. Errors of the driver are of no use here.
func (c *context) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refs--; c.refs > 0 {
		return
	}
	if c.shared == c {
		c.shared = nil
	}
	c.ReleaseCommandQueue(c.queue)
	c.ReleaseContext(c.id)
}

// failed is failed, and remembers a loss: the driver is asked for nothing more then.
func (c *context) failed(k code, call, detail string, args ...any) error {
	err := failed(k, call, detail, args...)
	var e *Error
	if errors.As(err, &e) && errors.Is(e, device.ErrDeviceLost) {
		c.lost.CompareAndSwap(nil, e)
	}
	return err
}

// usable returns the error of every call after the device was lost.
func (c *context) usable() error {
	if e := c.lost.Load(); e != nil {
		return fmt.Errorf("opencl: %s: %w", c.Info.Name, e)
	}
	return nil
}

// outcome says whether the command of e is over, and how it ended. One that
// the driver knows nothing about any more will not go on either.
func (c *context) outcome(e eventID) (over bool, k code) {
	var status int32
	if k := c.GetEventInfo(e, eventStatus, unsafe.Sizeof(status), unsafe.Pointer(&status), nil); k != succeeded {
		return true, k
	}
	return status <= 0, code(status)
}

// await waits for the command of e and returns how it ended. The wait alone
// says only that something failed.
func (c *context) await(e eventID) code {
	k := c.WaitForEvents(1, &e)
	if k == failedInWait {
		_, k = c.outcome(e)
	}
	return k
}

// finish is await that releases e.
func (c *context) finish(e eventID) code {
	defer c.ReleaseEvent(e)
	return c.await(e)
}
