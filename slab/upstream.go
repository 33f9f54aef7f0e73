package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// What a pool asks of its upstream.

// A forward passes on the methods that an Allocator may have beyond Alloc and Free.
type forward = upstream.Forward

func forwardTo(a Allocator) forward { return upstream.ForwardTo(a) }

// deviceOf returns the device whose blocks a passes through, or nil.
func deviceOf(a Allocator) device.Device {
	d, _ := upstream.LayerOf[device.Device](a)
	return d
}

// ownsRegions reports whether every block of a is a region of its own, as blocks of a
// device are.
func ownsRegions(a Allocator) bool { return deviceOf(a) != nil }

// grainOf returns the grain of a: its regions are multiples of it.
func grainOf(a Allocator) int {
	if d := deviceOf(a); d != nil {
		return max(1, device.TraitsOf(d).Grain)
	}
	return 1
}

// A voucher is embedded in Allocators whose blocks were verified already.
type voucher = upstream.Voucher

// checked draws on up and verifies its blocks; host memory has to be aligned to align
// bytes.
func checked(up Allocator, align int) upstream.Checked {
	return upstream.Check(up, ownsRegions(up), align)
}

// account returns the accounting of a pool over up; see checked.
func account(up Allocator, align int, leaving func(device.Region) func()) *upstream.Accounting {
	return upstream.NewAccounting(checked(up, align), leaving)
}

// A pool's upstream can be a Holder itself: a strategy that the program has made and
// opened the pool on. Its held memory counts as held by the pool, too.

// below returns the strategy that a is or draws on, or an Allocator that passes the
// strategy's blocks through. Without one the forward holds and gives nothing.
func below(a Allocator) forward {
	for l := range upstream.Layers(a) {
		if _, ok := l.(Holder); ok {
			return forwardTo(l)
		}
	}
	return forward{}
}

// keptBelow is the Usage of the strategy below, without the bytes that the pool has.
func keptBelow(a Allocator) Usage {
	u := below(a).Usage()
	u.ActiveBlocks, u.ActiveBytes = 0, 0
	return u
}
