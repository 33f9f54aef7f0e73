package opencl

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

// A region is what the regions of all forms have in common. Its memory goes
// when its life is over.
type region struct {
	dev  *Device
	size int
	free func() // gives the memory back to the driver
	life base.Life
}

// owned is implemented by the regions of this package.
type owned interface {
	device.Region
	base() *region
}

func (r *region) base() *region { return r }

// Size returns the bytes asked for.
func (r *region) Size() int { return r.size }

// init makes r one that is out.
func (r *region) init(d *Device, size int, free func()) {
	r.dev, r.size, r.free = d, size, free
	r.life.Begin()
	d.ctx.retain()
}

// hold keeps the memory until drop, or says that it is freed.
func (r *region) hold() error {
	if r.life.Hold() {
		return nil
	}
	return fmt.Errorf("opencl: a freed region of %d bytes on %s: %w", r.size, r.dev.base.Name(), device.ErrUnavailable)
}

func (r *region) drop() {
	if !r.life.Drop() {
		return
	}
	r.free()
	r.dev.give(r.size)
	r.dev.ctx.release()
}
