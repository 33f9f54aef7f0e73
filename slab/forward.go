package slab

import (
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
	return forward{upstream.VoucherOf(to), to}
}

// FreeHeld is the upstream's, if it is a [Holder].
func (f forward) FreeHeld() {
	if h, ok := f.upstream.(Holder); ok {
		h.FreeHeld()
	}
}

// StopHolding is the upstream's, if it is a [Holder].
func (f forward) StopHolding() {
	if h, ok := f.upstream.(Holder); ok {
		h.StopHolding()
	}
}

// Trim is the upstream's, if it is a [Trimmer]; Trim(0) of another [Holder] is its
// FreeHeld, which does not tell the bytes.
func (f forward) Trim(idle int) int64 {
	if t, ok := f.upstream.(Trimmer); ok {
		return t.Trim(idle)
	}
	if idle == 0 {
		f.FreeHeld()
	}
	return 0
}

// GiveUp is the upstream's, for pages of a forgotten block that may still be in use.
func (f forward) GiveUp(pages device.Block, n int64) bool {
	return upstream.GiveUp(f.upstream, pages, n)
}

// Usage is the upstream's, if it is a [UsageReporter].
func (f forward) Usage() Usage {
	if u, ok := f.upstream.(UsageReporter); ok {
		return u.Usage()
	}
	return Usage{}
}

// Reserve is the upstream's, if it is a [device.Reserver].
func (f forward) Reserve(size int) (device.Range, error) { return upstream.Reserve(f.upstream, size) }
