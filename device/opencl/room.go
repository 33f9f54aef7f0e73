package opencl

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

// A room counts what regions have of a memory, for all devices on it. OpenCL
// does not, and drivers that promise more than there is end the process when
// it is used.
type room struct {
	total int64
	used  atomic.Int64
}

// take reports whether there was room for n bytes.
func (r *room) take(n int64) bool {
	for {
		used := r.used.Load()
		if n > r.total-used {
			return false
		}
		if r.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

func (r *room) give(n int64) { r.used.Add(-n) }

func (r *room) free() int64 { return r.total - r.used.Load() }

// hostBytes is the memory of the machine, no limit where it does not tell.
func hostBytes() int64 {
	if heap, err := device.Open("heap"); err == nil {
		defer heap.Close()
		if _, total, err := heap.MemInfo(); err == nil {
			return total
		}
	}
	return math.MaxInt64
}

// room is where the regions of a device are.
func (d *Device) room() *room {
	if d.form == pinned {
		return &d.ctx.host
	}
	return &d.ctx.memory
}

// take counts a region, or says why there is no room for it.
func (d *Device) take(size int) error {
	if most := d.ctx.MaxBytes; int64(size) > most {
		return fmt.Errorf("opencl: %d bytes asked of %s, whose regions have %d at most: %w", size, d.name, most, device.ErrOutOfMemory)
	}
	if r := d.room(); !r.take(int64(size)) {
		return fmt.Errorf("opencl: %d bytes asked of %s, which has %d of %d left: %w", size, d.name, r.free(), r.total, device.ErrOutOfMemory)
	}
	return nil
}

func (d *Device) give(size int) { d.room().give(int64(size)) }
