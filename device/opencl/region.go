package opencl

import (
	"fmt"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

// A region is what the regions of all forms have in common. Its memory goes
// when it was freed and no call that uses it is under way any more: handles of
// the driver are addresses, and one that is gone takes the process with it.
type region struct {
	dev  *Device
	size int
	free func()       // gives the memory back to the driver
	gone atomic.Bool  // freed
	uses atomic.Int32 // calls under way, and one until it is freed
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
	r.uses.Store(1)
	d.ctx.retain()
}

// hold keeps the memory until drop, or says that it is freed.
func (r *region) hold() error {
	for n := r.uses.Load(); n > 0 && !r.gone.Load(); n = r.uses.Load() {
		if r.uses.CompareAndSwap(n, n+1) {
			return nil
		}
	}
	return fmt.Errorf("opencl: a freed region of %d bytes on %s: %w", r.size, r.dev.base.Name(), device.ErrUnavailable)
}

func (r *region) drop() {
	if r.uses.Add(-1) > 0 {
		return
	}
	r.free()
	r.dev.give(r.size)
	r.dev.ctx.release()
}
