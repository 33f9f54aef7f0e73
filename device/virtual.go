package device

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/bufslab/bufslab/device/internal/base"
)

// virtual hands out addresses without memory behind them: allocation traces
// of any size replay on it, and MemInfo tells how much memory a strategy would
// need. Regions are exactly as large as asked. There are no contents, so copies
// are refused.
type virtual struct {
	*base.Device
	fixed bool // told not to extend
	room  base.Budget
}

// openVirtual takes fixed, a capacity, or both with a comma between, once each.
func openVirtual(rest string) (Device, error) {
	d := &virtual{Device: base.Named("device", strings.TrimSuffix("virtual:"+rest, ":"))}
	d.room.Total = math.MaxInt64
	if rest == "" {
		return d, nil
	}
	sized := false
	for word := range strings.SplitSeq(rest, ",") {
		if word == "fixed" && !d.fixed {
			d.fixed = true
			continue
		}
		if sized || word == "fixed" {
			return nil, badRest("virtual", rest, "fixed and a capacity")
		}
		n, err := ParseSize(word)
		if err != nil {
			return nil, fmt.Errorf("device: virtual cannot use %q, only fixed and a capacity: %w", rest, err)
		}
		d.room.Total, sized = n, true
	}
	return d, nil
}

func (d *virtual) Alloc(size int) (Block, error) {
	if err := d.CheckAlloc(size); err != nil || size == 0 {
		return Block{}, err
	}
	if !d.room.Take(int64(size)) {
		return Block{}, d.errFull(size)
	}
	return Block{Region: &virtualRegion{dev: d, size: size}, Len: size}, nil
}

func (d *virtual) errFull(size int) error {
	return fmt.Errorf("device: %s of %d bytes has %d left, %d asked: %w",
		d.Name(), d.room.Total, d.room.Free(), size, ErrOutOfMemory)
}

func (d *virtual) Free(b Block) {
	if b == (Block{}) {
		return
	}
	r, ok := b.Region.(*virtualRegion)
	if !ok || r.dev != d || b.Off != 0 || b.Len != r.size || r.gone.Swap(true) {
		d.BadFree(b.Len, b.Off)
	}
	d.room.Give(int64(r.size))
}

// MemInfo counts allocated bytes and committed bytes of ranges. Without a capacity
// the total is the largest int64.
func (d *virtual) MemInfo() (free, total int64, err error) {
	if err := d.Usable(); err != nil {
		return 0, 0, err
	}
	return d.room.Free(), d.room.Total, nil
}

// Copy checks its arguments as on any device before it refuses: an error about a
// mistake in them says more.
func (d *virtual) Copy(dst, src Block) error {
	if err := d.Usable(); err != nil {
		return err
	}
	if err := CheckCopy(dst, src); err != nil || dst.Len == 0 {
		return err
	}
	return d.errNoMemory(dst.Len)
}

func (d *virtual) fill(dst Block, _ byte) error {
	if err := d.Usable(); err != nil {
		return err
	}
	if err := CheckBlock(dst); err != nil || dst.Len == 0 {
		return err
	}
	return d.errNoMemory(dst.Len)
}

func (d *virtual) errNoMemory(n int) error {
	return fmt.Errorf("device: %d bytes on %s, which has no memory behind it: %w", n, d.Name(), ErrUnavailable)
}

func (d *virtual) NewStream() (Stream, error) { return newImmediate(d) }

// A virtualRegion has no identity but its address in Go memory.
type virtualRegion struct {
	dev  *virtual
	size int
	gone atomic.Bool // freed; a range's region is born so, for Free to refuse it
}

func (r *virtualRegion) Size() int { return r.size }
