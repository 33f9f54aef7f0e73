package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// What a pool asks of the Allocator that it draws on.

// A forward passes on what an Allocator may have beyond Alloc and Free.
type forward = upstream.Forward[Allocator, Usage]

func forwardTo(a Allocator) forward { return upstream.ForwardTo[Usage](a) }

// deviceOf returns the device that a passes blocks through from, or nil.
func deviceOf(a Allocator) device.Device {
	d, _ := upstream.LayerOf[device.Device](a)
	return d
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
func account(up Allocator, align int, leaving func(device.Region) func()) *upstream.Accounting {
	return upstream.NewAccounting(checked(up, align), leaving)
}

// A pool's upstream can be a Holder itself: a strategy that the program has made and
// opened the pool on. What it holds is held by the pool, too.

// below returns the strategy, or what passes its blocks through, that a is or
// draws on. There may be none: then nothing is held, and nothing given.
func below(a Allocator) forward {
	for l := range upstream.Layers(a) {
		if _, ok := l.(Holder); ok {
			return forwardTo(l)
		}
	}
	return forward{}
}

// keptBelow is what the strategy below does with bytes that the pool does not have.
func keptBelow(a Allocator) Usage {
	u := below(a).Usage()
	u.ActiveBlocks, u.ActiveBytes = 0, 0
	return u
}
