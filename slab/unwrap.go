package slab

import (
	"iter"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// An unwrapper is an Allocator that passes blocks of another through as they are.
type unwrapper interface{ Unwrap() Allocator }

// layers goes through the allocators that blocks of a come from as they are:
// a itself, what it passes through, and so on down.
func layers(a Allocator) iter.Seq[Allocator] {
	return func(yield func(Allocator) bool) {
		for yield(a) {
			u, ok := a.(unwrapper)
			if !ok {
				return
			}
			a = u.Unwrap()
		}
	}
}

// deviceOf returns the device that a passes blocks through from, or nil.
func deviceOf(a Allocator) device.Device {
	for l := range layers(a) {
		if d, ok := l.(device.Device); ok {
			return d
		}
	}
	return nil
}

// ownsRegions reports whether every block of a is a region of its own, as a
// device's are.
func ownsRegions(a Allocator) bool { return deviceOf(a) != nil }

// grainOf returns what the regions of a are multiples of.
func grainOf(a Allocator) int {
	if d := deviceOf(a); d != nil {
		return max(1, device.TraitsOf(d).Grain)
	}
	return 1
}

// A voucher is embedded in what returns blocks that were verified already.
type voucher = upstream.Voucher

// checked is what draws on up and verifies the blocks that come; host memory
// has to be aligned to align bytes.
func checked(up Allocator, align int) upstream.Checked {
	return upstream.Check(up, ownsRegions(up), align)
}

// account returns the accounting of a pool over up; see checked.
func account(up Allocator, align int, leaving func(device.Region)) *upstream.Accounting {
	return upstream.NewAccounting(checked(up, align), leaving)
}

// Device returns the device whose memory the pool hands out, or nil where it draws on
// an Allocator of which that is not known, and of a nil or zero Pool. The pool closes it
// only where [OpenConfig] opened both.
func (p *Pool) Device() device.Device {
	if p == nil || p.pool == nil {
		return nil
	}
	return deviceOf(p.pool.upstream)
}
