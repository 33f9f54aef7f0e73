package slab

import (
	"iter"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// forward is what a wrapper passes on to an upstream that may not have it.
type forward struct {
	voucher
	upstream Allocator
}

func newForward(to Allocator) forward {
	if to == nil {
		panic("slab: a wrapper has no upstream")
	}
	giveUp := func(pages device.Block, n int64) bool { return upstream.GiveUp(to, pages, n) }
	return forward{upstream.VoucherOf(to).ThatGivesUp(giveUp), to}
}

// FreeHeld is the upstream's, if it is a [Holder] or passes blocks of one through.
func (f forward) FreeHeld() {
	if h, ok := layerOf[Holder](f.upstream); ok {
		h.FreeHeld()
	}
}

// StopHolding is the upstream's, if it is a [Holder] or passes blocks of one through.
func (f forward) StopHolding() {
	if h, ok := layerOf[Holder](f.upstream); ok {
		h.StopHolding()
	}
}

// Trim is the upstream's, if it is a [Trimmer] or passes blocks of one through; Trim(0) of
// another [Holder] is its FreeHeld, which does not tell the bytes.
func (f forward) Trim(idle int) int64 {
	for l := range layers(f.upstream) {
		if t, ok := l.(Trimmer); ok {
			return t.Trim(idle)
		}
		if h, ok := l.(Holder); ok && idle == 0 {
			h.FreeHeld()
			break
		}
	}
	return 0
}

// Step is the upstream's, if it has steps; see [Pool.Step].
func (f forward) Step() {
	if s, ok := layerOf[stepper](f.upstream); ok {
		s.Step()
	}
}

// Usage is the upstream's, if it is a [UsageReporter] or passes blocks of one through.
func (f forward) Usage() Usage {
	if u, ok := layerOf[UsageReporter](f.upstream); ok {
		return u.Usage()
	}
	return Usage{}
}

// Reserve is the upstream's, if it is a [device.Reserver].
func (f forward) Reserve(size int) (device.Range, error) { return upstream.Reserve(f.upstream, size) }

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

// layerOf returns the nearest of these that is a T.
func layerOf[T any](a Allocator) (t T, ok bool) {
	for l := range layers(a) {
		if t, ok = l.(T); ok {
			break
		}
	}
	return t, ok
}

// deviceOf returns the device that a passes blocks through from, or nil.
func deviceOf(a Allocator) device.Device {
	d, _ := layerOf[device.Device](a)
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

// below returns the strategy, or what passes its blocks through, that upstream is or
// stands on. There may be none: then nothing is held, and nothing given.
func below(upstream Allocator) forward {
	for l := range layers(upstream) {
		if _, ok := l.(Holder); ok {
			return forward{upstream: l}
		}
	}
	return forward{}
}

// keptBelow is what the strategy below does with bytes that the pool does not have.
func keptBelow(upstream Allocator) Usage {
	u := below(upstream).Usage()
	u.ActiveBlocks, u.ActiveBytes = 0, 0
	return u
}
