package opencl

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

// A Device is what [device.Open] returns for the names of this package, and [New]. It is
// safe for concurrent use and must not be copied.
type Device struct {
	base   *base.Device
	ctx    *context
	form   *form
	flags  MemFlags // of its buffers and shared memory
	pinned *Device  // nil where this is the pinned one
	owner           // in the pinned one
}

// owner is a name that is not exported.
type owner = base.Owner

// A form is a kind of memory that a device is opened for.
type form struct {
	name string
	make func(d *Device, size int) (device.Region, error) // which is an owned
	// lacks says why the hardware does not have the form, "" where it does.
	lacks    func(Info) string
	buffers  bool // the CPU does not reach it, and sub-buffers can be cut
	deferred bool
	host     bool // it is memory of the machine, not of the device
}

// Name returns the name that Open takes for this device. Where [New] made it, Open makes
// one in another context.
func (d *Device) Name() string { return d.base.Name() }

// Info describes the hardware.
func (d *Device) Info() Info { return d.ctx.Info }

// Handles returns the cl_platform_id, the cl_device_id and the cl_context of the
// device, for programs and kernels of another binding. They are valid until
// Close.
func (d *Device) Handles() (platform, id, context uintptr) {
	return uintptr(d.ctx.platform), uintptr(d.ctx.hardware.id), uintptr(d.ctx.id)
}

// Traits says where sub-buffers may begin, and whether a buffer gets its memory
// only when it is first used, as with the form deferred. Memory that the CPU
// reaches goes to kernels by its address, so its blocks may begin anywhere.
func (d *Device) Traits() device.Traits {
	t := device.Traits{Deferred: d.form.deferred}
	if d.form.buffers {
		t.Align = d.ctx.AlignBytes
	}
	return t
}

// Pinned makes a Device a [device.Pinner].
func (d *Device) Pinned() (device.Device, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if d.pinned == nil {
		return nil, fmt.Errorf("opencl: %s is page-locked host memory itself: %w", d.base.Name(), device.ErrUnavailable)
	}
	return d.pinned, nil
}

func (d *Device) usable() error {
	if err := d.base.Usable(); err != nil {
		return err
	}
	return d.ctx.usable()
}

// begin is usable for a call that uses the context itself: it stays until the call has released
// it, also if the device is closed meanwhile.
func (d *Device) begin() error {
	d.ctx.mu.Lock()
	defer d.ctx.mu.Unlock()
	if err := d.usable(); err != nil {
		return err
	}
	d.ctx.refs++
	return nil
}

// Close closes the pinned memory too.
func (d *Device) Close() error {
	if owns, err := base.CloseParent(&d.owner); owns {
		return err
	}
	if err := d.base.Close(); err != nil {
		return err
	}
	if d.pinned != nil {
		_ = d.pinned.base.Close()
		d.ctx.release()
	}
	return nil
}
