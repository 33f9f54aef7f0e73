package pools

import (
	"errors"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// poolModel is a pool beside what it must have handed out.
type poolModel struct {
	model.Base
	pool   *slab.Pool
	solid  bool // there is memory behind the addresses
	holder bool // the strategy gives back what it holds
	makes  bool // plain memory where there is no room
	strict bool // a second Release panics

	live    []handle
	stale   []slab.PooledBuffer
	refs    []reference
	streams model.Streams
	bound   bound
	doubles int64 // Releases that were refused
}

// A handle is a buffer that is out: all of a block, or a part of it.
type handle struct {
	buffer slab.PooledBuffer
	of     *block
	at     int  // where in the block it begins
	part   bool // by Slice or Share
}

// A block is the memory of a buffer, and of all its parts: what it must hold, and the
// stream that may not yet have written that.
type block struct {
	want    []byte // of as many bytes as were asked for
	plain   bool   // of no upstream: see Config.Overflow
	handles int
	use     model.Use
}

// want returns what a handle must see.
func (o handle) want() []byte { return o.of.want[o.at:][:o.buffer.Len()] }

// add makes a buffer that was handed out live. Nothing is known of its contents.
func (m *poolModel) add(b slab.PooledBuffer, plain bool) *handle {
	m.live = append(m.live, handle{buffer: b, of: &block{want: make([]byte, b.Len()), plain: plain, handles: 1}})
	return &m.live[len(m.live)-1]
}

// mark sets what a handle must see to the mark of a new owner, and returns it.
func (m *poolModel) mark(o *handle) []byte {
	m.Next++
	copy(o.want(), model.Mark(m.Next, o.buffer.Len()))
	return o.want()
}

// remove notes that handle i was released.
func (m *poolModel) remove(i int) handle {
	o := m.live[i]
	o.of.handles--
	m.live = append(m.live[:i], m.live[i+1:]...)
	m.stale = append(m.stale, o.buffer)
	return o
}

// admit fails unless a buffer of size bytes may be handed out, and has its owner
// write to it.
func (m *poolModel) admit(t *rapid.T, b slab.PooledBuffer, size int, zeroed bool) {
	t.Helper()
	m.judge(t, b, size)
	if zeroed || m.Zeroed {
		model.ExpectZeros(t, m.Bytes.Get(t, b.Block()))
	}
	m.Bytes.Put(t, b.Block(), m.mark(m.add(b, m.madePlain(t))))
}

// judge checks all of a buffer that was handed out but its contents.
func (m *poolModel) judge(t *rapid.T, b slab.PooledBuffer, size int) {
	t.Helper()
	block, view := b.Block(), b.Bytes()
	if b.Len() != size || block.Len != size || (view != nil && (len(view) != size || cap(view) != size)) {
		t.Fatalf("Get of %d bytes: Len %d, Block of %d, Bytes of %d of %d", size, b.Len(), block.Len, len(view), cap(view))
	}
	for _, o := range m.live {
		if model.Overlap(o.buffer.Block(), block) || haveCommon(o.buffer.Bytes(), view) {
			t.Fatalf("two buffers overlap, of %d and %d bytes", o.buffer.Len(), size)
		}
	}
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(view))); size > 0 && at%uintptr(m.Align) != 0 {
		t.Fatalf("%d bytes at an address that is no multiple of %d", size, m.Align)
	}
	if size > 0 {
		m.Asked = append(m.Asked, size)
	}
}

// haveCommon reports whether two views have a byte in common. On the Go heap every
// buffer's Block has a region of its own, so addresses are compared.
func haveCommon(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// pick draws a live buffer's place, or skips the step.
func (m *poolModel) pick(t *rapid.T) int {
	if len(m.live) == 0 {
		m.Skip(t, "no buffer is out")
	}
	return rapid.IntRange(0, len(m.live)-1).Draw(t, "index")
}

// take fails unless a buffer holds what its owner wrote, and removes it from the
// model.
func (m *poolModel) take(t *rapid.T, i int) handle {
	t.Helper()
	o := m.live[i]
	o.of.use.Wait(t)
	model.ExpectBytes(t, m.Bytes.Get(t, o.buffer.Block()), o.want())
	return m.remove(i)
}

func (m *poolModel) release(t *rapid.T, i int) {
	t.Helper()
	model.OK(t, m.take(t, i).buffer.Release())
}

// check is the invariant.
func (m *poolModel) check(t *rapid.T) {
	l := m.Up.Accounts()
	m.bound.look(t, l)

	if m.holder && m.Stopped && len(m.live) == 0 && l.Bytes != 0 {
		t.Fatalf("%d bytes are held after StopHolding", l.Bytes)
	}
	m.checkBlocks(t)
	m.checkStats(t, m.pool.Stats(), l)
}

// checkBlocks fails if the memory of a buffer has gone upstream.
func (m *poolModel) checkBlocks(t *rapid.T) {
	for _, o := range m.live {
		if b := o.buffer.Block(); m.Device == nil && !o.of.plain && b.Len > 0 && !m.Up.Holds(b) {
			t.Fatalf("a buffer of %d bytes is out, its memory has gone upstream", b.Len)
		}
	}
}

func (m *poolModel) sum() int64 {
	_, bytes := m.out()
	return bytes
}

// most is how many bytes there can be at all: no one waits for more.
func (m *poolModel) most() int64 {
	if m.Bytes.Dev == nil {
		return m.bound.most
	}
	_, total, err := m.Bytes.Dev.MemInfo()
	if err != nil { // the device does not tell
		return m.bound.most
	}
	return min(m.bound.most, total)
}

// isOut reports whether the pool and the model agree about what is out.
func (m *poolModel) isOut(blocks, bytes int64) bool {
	b, n := m.out()
	return b == blocks && n == bytes
}

// checkStats compares the pool's figures with the model's and the upstream's
// accounts.
func (m *poolModel) checkStats(t *rapid.T, s slab.Stats, l model.Accounts) {
	t.Helper()
	switch {
	case !m.isOut(s.ActiveBlocks, s.ActiveBytes):
		t.Fatalf("%d bytes are out, %d handles: %+v", m.sum(), len(m.live), s)
	case !m.isPlain(s.OverflowBlocks, s.OverflowBytes):
		t.Fatalf("other plain memory is out than the model has: %+v", s)
	case s.ManagedBytes != s.ActiveBytes+s.RoundingBytes+s.HeldBytes+s.UnusableBytes:
		t.Fatalf("managed bytes are not the sum of their parts: %+v", s)
	case s.ManagedBytes != l.Bytes:
		t.Fatalf("the upstream has %d bytes out: %+v", l.Bytes, s)
	case s.Waiters != 0:
		t.Fatalf("a call waits still: %+v", s)
	case min(s.RoundingBytes, s.HeldBytes, s.UnusableBytes, s.HeldBlocks, s.Hits, s.Misses) < 0:
		t.Fatalf("negative figures: %+v", s)
	case s.WaitingBytes < 0 || s.WaitingBytes > s.HeldBytes || s.WaitingBlocks > s.HeldBlocks || m.Stopped &&
		s.WaitingBlocks != 0:
		t.Fatalf("more waits than is held, or after StopHolding: %+v", s)
	case s.PeakManagedBytes < s.ManagedBytes || s.PeakManagedBytes > l.Peak:
		t.Fatalf("the upstream had at most %d bytes out: %+v", l.Peak, s)
	case s.DoubleReleases != m.doubles || s.Forgotten != 0:
		t.Fatalf("%d Releases were refused, and no buffer was forgotten: %+v", m.doubles, s)
	}
}

// close closes the pool and then releases what is out.
func (m *poolModel) close(t *rapid.T) {
	err := m.pool.Close()
	var leak *slab.LeakError
	switch {
	case len(m.live) == 0:
		model.OK(t, err)
	case !errors.As(err, &leak) || !m.isOut(leak.Blocks, leak.Bytes) && !m.isPlain(leak.Blocks, leak.Bytes):
		t.Fatalf("Close with %d bytes out, %d handles: %v", m.sum(), len(m.live), err)
	}
	model.OK(t, m.pool.Close())
	m.Stopped = true
	m.check(t)
	if _, err := m.pool.Get(1); !errors.Is(err, slab.ErrClosed) {
		t.Fatalf("Get after Close: error does not wrap slab.ErrClosed: %v", err)
	}
	m.checkRefs(t)
	for len(m.live) > 0 {
		m.release(t, len(m.live)-1)
		m.check(t)
	}
	m.checkRefs(t)
	if m.holder {
		model.ExpectNoRange(t, m.Up.Accounts())
	}
	m.streams.Close(t)
}

// unavailable reports whether err says that there is nothing to clear.
func (m *poolModel) unavailable(err error) bool {
	return !m.solid && errors.Is(err, device.ErrUnavailable)
}
