package opencl

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Options say where [New] makes a device. Handles are those of another binding, as its
// objects have them: pyopencl's int_ptr, for instance. They have to be valid: a driver
// takes the process with it where one is not.
type Options struct {
	// Context is a cl_context. 0 is that of Queue.
	Context uintptr
	// Device is a cl_device_id of the context. 0 is that of Queue, or else the first of
	// the context.
	Device uintptr
	// Queue is a cl_command_queue of both, in which calls without a stream do their work
	// and wait for it: where it is in order, after all that it was given before. 0 is
	// one of the device's own.
	Queue uintptr
	// Form is the form of the memory as it stands behind a number: "", "deferred", "svm"
	// or "svm-fine".
	Form string
	// Flags are those of the buffers. 0 is ReadWrite. Pinned memory is always ReadWrite.
	Flags MemFlags
}

// An OptionsError says what [New] cannot do, before anything was done. It wraps
// [device.ErrUnavailable].
type OptionsError struct {
	Option string // the field of Options
	Fault  string
}

func (e *OptionsError) Error() string {
	return fmt.Sprintf("opencl: %s %s: %v", e.Option, e.Fault, device.ErrUnavailable)
}

// Unwrap returns [device.ErrUnavailable].
func (e *OptionsError) Unwrap() error { return device.ErrUnavailable }

// New returns a device, a *[Device], in a context of the caller's own, so that its blocks are
// arguments of kernels there. It retains the context, and the queue, until the device is closed
// and nothing of it is out. The memory counts together with that of devices that
// [device.Open] returns for the same hardware, but blocks of one context are not
// reached from another.
//
// The error is an *OptionsError where the options do not fit each other. It wraps
// [device.ErrUnavailable] where there is no library or no driver, too, and where the
// hardware does not have the form.
func New(o Options) (device.Device, error) {
	if _, err := o.form(); err != nil {
		return nil, err
	}
	found, err := system()
	if err != nil {
		return nil, err
	}
	d, err := adopt(found, o)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// form returns the form, after all that can be judged without the driver.
func (o Options) form() (*form, error) {
	f, err := formOf(o.Form)
	switch {
	case err != nil:
		return nil, &OptionsError{"Form", fmt.Sprintf("%q is none of \"\", deferred, svm and svm-fine", o.Form)}
	case o.Context == 0 && o.Queue == 0:
		return nil, &OptionsError{"Context", "is 0, and there is no Queue to take it from"}
	}
	if why := o.Flags.fault(f.buffers); why != "" {
		return nil, &OptionsError{"Flags", why}
	}
	return f, nil
}

func adopt(found []*hardware, o Options) (*Device, error) {
	f, err := o.form()
	if err != nil {
		return nil, err
	}
	a := found[0].api
	id, dev, err := a.place(o)
	if err != nil {
		return nil, err
	}
	h, err := hardwareOf(found, dev)
	if err != nil {
		return nil, err
	}
	if why := f.lacks(h.Info); why != "" {
		return nil, &OptionsError{"Form", fmt.Sprintf("%q: %s %s", o.Form, h.Info.Device, why)}
	}
	c, err := h.adopt(id, queueID(o.Queue))
	if err != nil {
		return nil, err
	}
	name := h.Info.Name
	if f.name != "" {
		name += ":" + f.name
	}
	return deviceIn(c, name, f, o.Flags.orDefault()), nil
}

// place returns the context and the device that the options mean, which belong together.
func (a *api) place(o Options) (c contextID, dev deviceID, err error) {
	c, dev = contextID(o.Context), deviceID(o.Device)
	if o.Queue != 0 {
		if c, dev, err = a.ofQueue(o); err != nil {
			return 0, 0, err
		}
	}
	ids, k := all(func(room uint32, ids *deviceID, n *uint32) code {
		bytes := uintptr(0)
		k := a.GetContextInfo(c, contextDevices, uintptr(room)*unsafe.Sizeof(dev), unsafe.Pointer(ids), &bytes)
		if n != nil {
			*n = uint32(bytes / unsafe.Sizeof(dev))
		}
		return k
	})
	switch {
	case k != succeeded:
		return 0, 0, unavailable(failed(k, "clGetContextInfo", "context %#x", uintptr(c)))
	case len(ids) == 0:
		return 0, 0, &OptionsError{"Context", fmt.Sprintf("%#x has no device", uintptr(c))}
	case dev == 0:
		return c, ids[0], nil
	case !slices.Contains(ids, dev):
		return 0, 0, &OptionsError{"Device", fmt.Sprintf("%#x is none of the %d of context %#x", uintptr(dev), len(ids),
			uintptr(c))}
	}
	return c, dev, nil
}

// ofQueue returns context and device of the queue, which no other option contradicts.
func (a *api) ofQueue(o Options) (c contextID, dev deviceID, err error) {
	k := a.GetCommandQueueInfo(queueID(o.Queue), queueContext, unsafe.Sizeof(c), unsafe.Pointer(&c), nil)
	k = min(k, a.GetCommandQueueInfo(queueID(o.Queue), queueDevice, unsafe.Sizeof(dev), unsafe.Pointer(&dev), nil))
	switch {
	case k != succeeded:
		return 0, 0, unavailable(failed(k, "clGetCommandQueueInfo", "queue %#x", o.Queue))
	case o.Context != 0 && c != contextID(o.Context):
		return 0, 0, &OptionsError{"Queue", fmt.Sprintf("%#x is one of context %#x, not %#x", o.Queue, uintptr(c),
			o.Context)}
	case o.Device != 0 && dev != deviceID(o.Device):
		return 0, 0, &OptionsError{"Queue", fmt.Sprintf("%#x is one of device %#x, not %#x", o.Queue, uintptr(dev),
			o.Device)}
	}
	return c, dev, nil
}

// hardwareOf returns what is known of a device: of one of the system's, so that its room
// is counted once, or of one that somebody has made of a part of those.
func hardwareOf(found []*hardware, dev deviceID) (*hardware, error) {
	for _, h := range found {
		if h.id == dev {
			return h, nil
		}
	}
	h := &hardware{api: found[0].api, id: dev}
	if k := h.number(devicePlatform, unsafe.Pointer(&h.platform), unsafe.Sizeof(h.platform)); k != succeeded {
		return nil, unavailable(failed(k, "clGetDeviceInfo", "device %#x", uintptr(dev)))
	}
	if err := h.describe(len(found)); err != nil {
		return nil, unavailable(err)
	}
	h.Info.Name = "opencl:sub-device"
	return h, nil
}

// adopt retains a context and a queue of it, or makes one.
func (h *hardware) adopt(id contextID, q queueID) (*context, error) {
	if err := failed(h.RetainContext(id), "clRetainContext", "%s", h.Info.Name); err != nil {
		return nil, unavailable(err)
	}
	c := &context{hardware: h, id: id, queue: q, refs: 1}
	err := error(nil)
	if q == 0 {
		c.queue, err = c.newQueue()
	} else {
		err = failed(h.RetainCommandQueue(q), "clRetainCommandQueue", "%s", h.Info.Name)
	}
	if err != nil {
		h.ReleaseContext(id)
		return nil, unavailable(err)
	}
	return c, nil
}
