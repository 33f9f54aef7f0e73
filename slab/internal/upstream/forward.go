package upstream

import "github.com/bufslab/bufslab/device"

// A Forward passes on what an Allocator may have beyond Alloc and Free, through its layers. A
// wrapper embeds it. The zero Forward passes nothing on.
type Forward struct {
	Voucher
	to device.Allocator
}

// ForwardTo returns a Forward to an Allocator. It panics if that is nil.
func ForwardTo(to device.Allocator) Forward {
	if to == nil {
		panic("slab: a wrapper has no upstream")
	}
	return Forward{VoucherOf(to), to}
}

func (f Forward) gives() func(device.Block, int64) bool {
	return func(pages device.Block, n int64) bool { return GiveUp(f.to, pages, n) }
}

// A holder is a slab.Holder.
type holder interface {
	FreeHeld()
	StopHolding()
}

// A trimmer is a slab.Trimmer.
type trimmer interface{ Trim(idle int) int64 }

// FreeHeld is that of the nearest layer that holds memory.
func (f Forward) FreeHeld() {
	if h, ok := LayerOf[holder](f.to); ok {
		h.FreeHeld()
	}
}

// StopHolding is that of the nearest layer that holds memory.
func (f Forward) StopHolding() {
	if h, ok := LayerOf[holder](f.to); ok {
		h.StopHolding()
	}
}

// Trim is that of the nearest layer that trims. Trim(0) of one that only holds memory is its
// FreeHeld, which does not tell the bytes.
func (f Forward) Trim(idle int) int64 {
	for l := range Layers(f.to) {
		if t, ok := l.(trimmer); ok {
			return t.Trim(idle)
		}
		if h, ok := l.(holder); ok && idle == 0 {
			h.FreeHeld()
			break
		}
	}
	return 0
}

// Usage is that of the nearest layer that tells, else zero.
func (f Forward) Usage() (u device.Usage) {
	if r, ok := LayerOf[interface{ Usage() device.Usage }](f.to); ok {
		u = r.Usage()
	}
	return u
}

// Reserve is the source's, if it is a [device.Reserver].
func (f Forward) Reserve(size int) (device.Range, error) { return Reserve(f.to, size) }
