package opencl

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

func init() { device.Register("opencl", open) }

// A Device is what [device.Open] returns for the names of this package. It is
// safe for concurrent use and must not be copied.
type Device struct {
	name   string
	ctx    *context
	form   *form
	closed atomic.Bool
	pinned *Device // nil where this is the pinned one
}

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
	d := &Device{name: name, ctx: c, form: f}
	d.pinned = &Device{name: name + ":pinned", ctx: c, form: pinned}
	return d, nil
}

// Name returns the name that Open takes for this device.
func (d *Device) Name() string { return d.name }

// Info describes the hardware.
func (d *Device) Info() Info { return d.ctx.Info }

// Handles returns the driver's own names for what the device stands on: a
// cl_platform_id, a cl_device_id and a cl_context, for programs and kernels of
// another binding. They are valid until Close.
func (d *Device) Handles() (platform, id, context uintptr) {
	return uintptr(d.ctx.platform), uintptr(d.ctx.hardware.id), uintptr(d.ctx.id)
}

// Align makes a Device [device.Aligned]: sub-buffers begin at multiples of it.
// Memory that the CPU reaches goes to kernels by address, and any will do.
func (d *Device) Align() int {
	if d.form.buffers {
		return d.ctx.AlignBytes
	}
	return 1
}

// Deferred makes a Device [device.Deferred]: true for the form of that name.
func (d *Device) Deferred() bool { return d.form.deferred }

// Pinned makes a Device a [device.Pinner].
func (d *Device) Pinned() (device.Device, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if d.pinned == nil {
		return nil, fmt.Errorf("opencl: %s is page-locked host memory itself: %w", d.name, device.ErrUnavailable)
	}
	return d.pinned, nil
}

func (d *Device) usable() error {
	if d.closed.Load() {
		return fmt.Errorf("opencl: %s: %w", d.name, device.ErrClosed)
	}
	return d.ctx.usable()
}

// Alloc returns a region of exactly size bytes. There is no room for more than
// MemInfo says, and none for a region above Info.MaxBytes.
func (d *Device) Alloc(size int) (device.Block, error) {
	if size < 0 {
		return device.Block{}, fmt.Errorf("opencl: alloc of %d bytes on %s: %w", size, d.name, device.ErrSize)
	}
	if err := d.usable(); err != nil || size == 0 {
		return device.Block{}, err
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

// Free works on a lost and on a closed device too. What the driver says to it
// there is nobody to tell; a loss shows at the next call.
func (d *Device) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	r, ok := b.Region.(owned)
	if !ok || r.base().dev != d || b.Off != 0 || b.Len != r.Size() || r.base().gone.Swap(true) {
		panic(fmt.Sprintf("opencl: Free of a block that is not out, %d bytes at offset %d of %s", b.Len, b.Off, d.name))
	}
	r.base().drop()
}

// MemInfo counts what the process has allocated against what the driver says
// of the device, or of the machine for pinned memory: OpenCL does not tell what
// other programs have.
func (d *Device) MemInfo() (free, total int64, err error) {
	if err := d.usable(); err != nil {
		return 0, 0, err
	}
	return d.room().free(), d.room().total, nil
}

// Close closes the pinned memory too.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return fmt.Errorf("opencl: %s: %w", d.name, device.ErrClosed)
	}
	if d.pinned != nil {
		d.pinned.closed.Store(true)
		d.ctx.release()
	}
	return nil
}
