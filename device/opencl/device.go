package opencl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

func init() { device.Register("opencl", open) }

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

func open(rest string) (device.Device, error) {
	found, err := system()
	if err != nil {
		return nil, err
	}
	d, err := openOn(found, rest)
	if err != nil {
		return nil, err // not a nil *Device that is no nil device.Device
	}
	return d, nil
}

// openOn opens NUMBER, NUMBER:FORM or nothing, which is the first device.
func openOn(found []*hardware, rest string) (*Device, error) {
	name := "opencl:" + rest
	if rest == "" {
		name, rest = "opencl", "0"
	}
	number, formName, colon := strings.Cut(rest, ":")
	if colon && formName == "" {
		return nil, fmt.Errorf("opencl: nothing after the colon of %q: %w", name, device.ErrUnavailable)
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || int(n) >= len(found) {
		return nil, fmt.Errorf("opencl: no device %q, only 0 to %d: %w", number, len(found)-1, device.ErrUnavailable)
	}
	f, err := formOf(formName)
	if err != nil {
		return nil, err
	}
	return newDevice(name, found[n], f)
}

func newDevice(name string, h *hardware, f *form) (*Device, error) {
	if why := f.lacks(h.Info); why != "" {
		return nil, fmt.Errorf("opencl: %s: %s %s: %w", name, h.Info.Device, why, device.ErrUnavailable)
	}
	c, err := h.open()
	if err != nil {
		return nil, err
	}
	return deviceIn(c, name, f, ReadWrite), nil
}

// deviceIn takes over the caller's reference to a context.
func deviceIn(c *context, name string, f *form, flags MemFlags) *Device {
	return &Device{
		base: base.Named("opencl", name), ctx: c, form: f, flags: flags,
		pinned: &Device{base: base.Named("opencl", name+":pinned"), ctx: c, form: pinned, flags: ReadWrite},
	}
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

// Alloc returns a region of exactly size bytes. It refuses more bytes than
// MemInfo says are free, and a region above Info.MaxBytes.
func (d *Device) Alloc(size int) (device.Block, error) {
	if err := d.base.CheckAlloc(size); err != nil {
		return device.Block{}, err
	}
	if err := d.begin(); err != nil {
		return device.Block{}, err
	}
	defer d.ctx.release()
	if size == 0 {
		return device.Block{}, nil
	}
	if err := d.take(size); err != nil {
		return device.Block{}, err
	}
	r, err := d.form.make(d, size)
	if err != nil {
		d.give(size)
		return device.Block{}, err
	}
	return device.Block{Region: r, Len: size}, nil
}

// Free works on a lost and on a closed device too. It does not report errors of
// the driver; a loss shows at the next call.
func (d *Device) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	r, ok := b.Region.(owned)
	if !ok || r.base().dev != d || b.Off != 0 || b.Len != r.Size() || !r.base().life.End() {
		d.base.BadFree(b.Len, b.Off)
	}
	r.base().drop()
}

// MemInfo returns the memory of the device, or of the machine for pinned memory,
// less what this process has allocated. OpenCL does not tell what other programs
// have allocated.
func (d *Device) MemInfo() (free, total int64, err error) {
	if err := d.usable(); err != nil {
		return 0, 0, err
	}
	return d.room().Free(), d.room().Total, nil
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
