package opencl

import (
	"fmt"
	"math"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

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

// room is where the regions of a device are. OpenCL does not count what they
// take, and drivers that promise more than there is end the process when it is
// used. So a budget counts it, for all devices on one memory.
func (d *Device) room() *base.Budget {
	if d.form == pinned {
		return &d.ctx.host
	}
	return &d.ctx.memory
}

// take counts a region, or says why there is no room for it.
func (d *Device) take(size int) error {
	if most := d.ctx.MaxBytes; int64(size) > most {
		return fmt.Errorf("opencl: %d bytes asked of %s, whose regions have %d at most: %w", size, d.base.Name(), most,
			device.ErrOutOfMemory)
	}
	if r := d.room(); !r.Take(int64(size)) {
		return fmt.Errorf("opencl: %d bytes asked of %s, which has %d of %d left: %w", size, d.base.Name(), r.Free(),
			r.Total, device.ErrOutOfMemory)
	}
	return nil
}

func (d *Device) give(size int) { d.room().Give(int64(size)) }
