package device

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// A heapRegion is one allocation of Go memory, see [Collected]. It is in one
// of four states:
//
//	held      strong points to the memory
//	loosened  strong is nil, weak finds the memory as long as a view keeps it
//	found     the collector saw no view: weak is nil, the finalizer runs or is about to
//	dropped   by Free: strong and weak are nil for good
//
// The finalizer sits on the memory, not on this struct, so any view of the
// memory, however short, keeps the finalizer from running. It calls lost, and
// only there Hold brings the memory from found back to held: a block that is
// handed out meanwhile cannot be mistaken for a forgotten one. Hold takes a new
// weak pointer: the old one stays nil although the memory lives. Before Watch
// there is no finalizer, and without Loosen no weak pointer: then a region costs
// two allocations.
type heapRegion struct {
	dev       *heap
	off, size int // the memory begins off bytes behind strong, for alignment

	strong atomic.Pointer[byte] // to the base of the allocation
	mu     sync.Mutex           // of the fields below, and of changes to strong
	weak   weak.Pointer[byte]   // to the same, once it was loosened
	lost   func()               // of Watch
	back   *byte                // the memory while lost runs, for Hold
	gone   bool                 // dropped by Free
}

func newHeapRegion(h *heap, size, align int) *heapRegion {
	m, off := makeAligned(size, align)
	r := &heapRegion{dev: h, off: off, size: size}
	r.strong.Store(unsafe.SliceData(m))
	return r
}

func (r *heapRegion) Size() int { return r.size }

func (r *heapRegion) Bytes() []byte {
	p := r.strong.Load()
	if p == nil {
		r.mu.Lock()
		p = r.find()
		r.mu.Unlock()
	}
	if p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(p), r.off)), r.size)
}

// find returns the base of the memory, nil if it is found or dropped. The
// caller has mu.
func (r *heapRegion) find() *byte {
	if p := r.strong.Load(); p != nil {
		return p
	}
	return r.weak.Value()
}

func (r *heapRegion) Watch(lost func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil || lost == nil {
		panic("device: Watch called twice or with nil")
	}
	if p := r.find(); p != nil {
		r.lost = lost
		r.arm(p)
	}
}

// arm sets the finalizer, which reaches the region only weakly: the runtime
// keeps finalizers alive, and the region with its pool would never go away.
func (r *heapRegion) arm(p *byte) {
	w := weak.Make(r)
	runtime.SetFinalizer(p, func(p *byte) {
		if r := w.Value(); r != nil {
			r.found(p)
		} // else no pool has the region any more, and the memory is collected
	})
}

// found runs on the finalizer goroutine. lost decides whether the memory
// lives on.
func (r *heapRegion) found(p *byte) {
	r.mu.Lock()
	lost := r.lost
	r.back = p
	r.mu.Unlock()
	if lost != nil {
		lost() // without the lock: it calls Hold
	}
	r.mu.Lock()
	r.back = nil
	r.mu.Unlock()
}

func (r *heapRegion) Loosen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.strong.Load()
	if p == nil {
		return
	}
	if r.weak == (weak.Pointer[byte]{}) {
		r.weak = weak.Make(p)
	}
	r.strong.Store(nil)
}

func (r *heapRegion) Hold() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.find()
	if p == nil && r.back != nil && !r.gone {
		p, r.back = r.back, nil
		r.weak = weak.Make(p)
		r.arm(p)
	}
	if p == nil {
		return false
	}
	r.strong.Store(p)
	return true
}

// drop leaves the memory to the collector for good. It reports false if the
// memory was dropped before.
func (r *heapRegion) drop() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return false
	}
	if p := r.find(); p != nil && r.lost != nil {
		runtime.SetFinalizer(p, nil)
	}
	r.gone, r.lost, r.weak = true, nil, weak.Pointer[byte]{}
	r.strong.Store(nil)
	return true
}
