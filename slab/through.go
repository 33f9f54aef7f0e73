package slab

import "github.com/bufslab/bufslab/device"

// through is what a wrapper passes on to an upstream that may not have it.
type through struct{ upstream Allocator }

// FreeHeld is the upstream's, if it is a [Holder].
func (p through) FreeHeld() {
	if h, ok := p.upstream.(Holder); ok {
		h.FreeHeld()
	}
}

// StopHolding is the upstream's, if it is a [Holder].
func (p through) StopHolding() {
	if h, ok := p.upstream.(Holder); ok {
		h.StopHolding()
	}
}

// Trim is the upstream's, if it is a [Trimmer].
func (p through) Trim(idle int) int64 {
	if t, ok := p.upstream.(Trimmer); ok {
		return t.Trim(idle)
	}
	return 0
}

// Usage is the upstream's, if it is a [User].
func (p through) Usage() Usage {
	if u, ok := p.upstream.(User); ok {
		return u.Usage()
	}
	return Usage{}
}

// Reserve is the upstream's, if it is a [device.Reserver].
func (p through) Reserve(size int) (device.Range, error) { return reserveOf(p.upstream, size) }
