package upstream

import "github.com/bufslab/bufslab/device"

// A Forward passes on what a source of type A may have beyond Alloc and Free, through the layers
// of A. A wrapper embeds it. U is the Usage of A. The zero Forward passes nothing on.
type Forward[A Source, U any] struct {
	Voucher
	to A
}

// ForwardTo returns a Forward to a source. It panics if that is nil.
func ForwardTo[U any, A Source](to A) Forward[A, U] {
	if any(to) == nil {
		panic("slab: a wrapper has no upstream")
	}
	return Forward[A, U]{VoucherOf(to), to}
}

func (f Forward[A, U]) gives() func(device.Block, int64) bool {
	return func(pages device.Block, n int64) bool { return GiveUp(f.to, pages, n) }
}

// A holder is a slab.Holder.
type holder interface {
	FreeHeld()
	StopHolding()
}

// A trimmer is a slab.Trimmer.
type trimmer interface{ Trim(idle int) int64 }

// A Stepper is a strategy that wants to know where a step begins.
type Stepper interface{ Step() }

// FreeHeld is that of the nearest layer that holds memory.
func (f Forward[A, U]) FreeHeld() {
	if h, ok := LayerOf[holder](f.to); ok {
		h.FreeHeld()
	}
}

// StopHolding is that of the nearest layer that holds memory.
func (f Forward[A, U]) StopHolding() {
	if h, ok := LayerOf[holder](f.to); ok {
		h.StopHolding()
	}
}

// Trim is that of the nearest layer that trims. Trim(0) of one that only holds memory is its
// FreeHeld, which does not tell the bytes.
func (f Forward[A, U]) Trim(idle int) int64 {
	for l := range Layers(f.to) {
		if t, ok := any(l).(trimmer); ok {
			return t.Trim(idle)
		}
		if h, ok := any(l).(holder); ok && idle == 0 {
			h.FreeHeld()
			break
		}
	}
	return 0
}

// Step is that of the nearest layer that has steps.
func (f Forward[A, U]) Step() {
	if s, ok := LayerOf[Stepper](f.to); ok {
		s.Step()
	}
}

// Usage is that of the nearest layer that tells, else zero.
func (f Forward[A, U]) Usage() (u U) {
	if r, ok := LayerOf[interface{ Usage() U }](f.to); ok {
		u = r.Usage()
	}
	return u
}

// Reserve is the source's, if it is a [device.Reserver].
func (f Forward[A, U]) Reserve(size int) (device.Range, error) { return Reserve(f.to, size) }
