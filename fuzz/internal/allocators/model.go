package allocators

import (
	"unsafe"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// allocatorModel is a strategy beside what it must have handed out.
type allocatorModel struct {
	model.Base
	strategy slab.Allocator

	live  []owned
	freed []device.Block
}

// An owned block is one that is out, and the number of its owner.
type owned struct {
	block device.Block
	id    int
}

// admit fails unless a block of size bytes may be handed out, and has its owner
// write to it.
func (m *allocatorModel) admit(t *rapid.T, b device.Block, size int) {
	t.Helper()
	if b.Len != size {
		t.Fatalf("Alloc of %d bytes gave a block of %d", size, b.Len)
	}
	if b.Region == nil || !m.Up.Holds(b) {
		t.Fatalf("Alloc of %d bytes gave memory at offset %d that the upstream did not give", size, b.Off)
	}
	for _, o := range m.live {
		if model.Overlap(o.block, b) {
			t.Fatalf("two blocks overlap: %d bytes at offset %d, %d at %d", o.block.Len, o.block.Off, b.Len, b.Off)
		}
	}
	m.admitContents(t, b)
	m.live = append(m.live, owned{b, m.Next})
	m.Asked = append(m.Asked, size)
}

func (m *allocatorModel) admitContents(t *rapid.T, b device.Block) {
	if view := device.Bytes(b); view != nil {
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(view))); at%uintptr(m.Align) != 0 {
			t.Fatalf("%d bytes at an address that is no multiple of %d", b.Len, m.Align)
		}
	}
	if m.Zeroed {
		model.ExpectZeros(t, m.Bytes.Get(t, b))
	}
	m.Next++
	m.Bytes.Put(t, b, model.Mark(m.Next, b.Len))
}

// pick draws a live block's place, or skips the step.
func (m *allocatorModel) pick(t *rapid.T) int {
	if len(m.live) == 0 {
		m.Skip(t, "no block is out")
	}
	return rapid.IntRange(0, len(m.live)-1).Draw(t, "index")
}

// release fails unless a block holds what its owner wrote, and frees it.
func (m *allocatorModel) release(t *rapid.T, i int) {
	t.Helper()
	o := m.live[i]
	m.Bytes.Expect(t, o.block, o.id)
	m.live = append(m.live[:i], m.live[i+1:]...)
	m.strategy.Free(o.block)
	m.freed = append(m.freed, o.block)
}

// check is the invariant.
func (m *allocatorModel) check(t *rapid.T) {
	for _, o := range m.live {
		if !m.Up.Holds(o.block) {
			t.Fatalf("a block of %d bytes is out, its memory has gone upstream", o.block.Len)
		}
	}
	l := m.Up.Accounts()
	if l.Peak > m.MaxBytes {
		t.Fatalf("%d bytes of the upstream were out, of %d allowed", l.Peak, m.MaxBytes)
	}
	if m.Stopped && len(m.live) == 0 && l.Bytes != 0 {
		t.Fatalf("%d bytes are held after StopHolding", l.Bytes)
	}
	if u, is := m.strategy.(slab.UsageReporter); is {
		m.checkUsage(t, u.Usage(), l)
	}
}

// checkUsage compares the strategy's figures with the model's and the
// upstream's accounts.
func (m *allocatorModel) checkUsage(t *rapid.T, u slab.Usage, l model.Accounts) {
	t.Helper()
	var bytes int64
	for _, o := range m.live {
		bytes += int64(o.block.Len)
	}
	if u.ActiveBytes != bytes || u.ActiveBlocks != int64(len(m.live)) {
		t.Fatalf("%d bytes are out in %d blocks; %+v", bytes, len(m.live), u)
	}
	if u.ManagedBytes() != l.Bytes {
		t.Fatalf("the upstream has %d bytes out, Usage adds up to %d: %+v", l.Bytes, u.ManagedBytes(), u)
	}
	if u.RoundingBytes < 0 || u.HeldBytes < 0 || u.UnusableBytes < 0 || u.HeldBlocks < 0 {
		t.Fatalf("negative figures: %+v", u)
	}
}

// end releases all blocks, after which nothing may be kept that can go upstream.
func (m *allocatorModel) end(t *rapid.T) {
	for len(m.live) > 0 {
		m.release(t, len(m.live)-1)
	}
	m.check(t)
	if h, is := m.strategy.(slab.Holder); is {
		h.StopHolding()
		m.Stopped = true
		m.check(t)
		model.ExpectNoRange(t, m.Up.Accounts())
	}
}
