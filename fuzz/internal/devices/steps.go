package devices

import (
	"errors"
	"slices"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// check is the invariant: every byte holds what was put there. It leaves out
// blocks that a stream still uses.
func (m *deviceModel) check(t *rapid.T) {
	if !m.contents {
		return
	}
	for _, b := range m.live() {
		if b.use.Stream == nil {
			m.checkBlock(t, b)
		}
	}
}

func (m *deviceModel) checkBlock(t *rapid.T, b *modelBlock) {
	contents := make([]byte, b.block.Len)
	model.OK(t, m.dev.Copy(device.Host(contents), b.block))
	for i, got := range contents {
		if want := b.want[i]; want != unknown && int(got) != want {
			t.Fatalf("byte %d of %d at offset %d is %d, not %d", i, b.block.Len, b.block.Off, got, want)
		}
	}
}

// mostBlocks keeps programs small: few blocks show a fault as well as many.
const mostBlocks = 8

func (m *deviceModel) alloc(t *rapid.T) {
	if len(m.blocks) == mostBlocks {
		m.Skip(t, "enough blocks are out")
	}
	n := draw.Size(t)
	b, err := m.dev.Alloc(n)
	if errors.Is(err, device.ErrOutOfMemory) {
		return
	}
	model.OK(t, err)
	switch {
	case n == 0 && b != (device.Block{}):
		t.Fatalf("Alloc of 0 bytes gave %d at offset %d, not the zero Block", b.Len, b.Off)
	case n > 0 && b.Region == nil:
		t.Fatalf("Alloc of %d bytes gave no region and no error", n)
	case b.Len != n || device.CheckBlock(b) != nil:
		t.Fatalf("Alloc of %d bytes gave %d at offset %d of a region of %d", n, b.Len, b.Off, b.Region.Size())
	}
	m.blocks = append(m.blocks, newModelBlock(b))
}

func (m *deviceModel) free(t *rapid.T) {
	if len(m.blocks) == 0 {
		m.Skip(t, "no block is out")
	}
	i := rapid.IntRange(0, len(m.blocks)-1).Draw(t, "index")
	m.blocks[i].use.Wait(t)
	b := m.blocks[i].block
	m.dev.Free(b)
	m.blocks = append(m.blocks[:i], m.blocks[i+1:]...)
	if b.Region != nil {
		m.freed = append(m.freed, b)
	}
}

// write goes by Copy, which every device has.
func (m *deviceModel) write(t *rapid.T) {
	m.needContents(t)
	b := m.pick(t)
	off, n := pickPart(t, b, b.block.Len)
	value := draw.Bytes(t, n)
	model.OK(t, m.dev.Copy(b.part(off, n), device.Host(value)))
	b.set(off, value)
}

// poke goes by the CPU, where it reaches the memory.
func (m *deviceModel) poke(t *rapid.T) {
	b := m.pick(t)
	view := device.Bytes(b.block)
	if view == nil {
		m.Skip(t, "the CPU cannot reach the block")
	}
	off, n := pickPart(t, b, b.block.Len)
	value := draw.Bytes(t, n)
	copy(view[off:], value)
	b.set(off, value)
}

func (m *deviceModel) copy(t *rapid.T) {
	m.needContents(t)
	from, to := m.pick(t), m.pick(t)
	src, n := pickPart(t, from, to.block.Len)
	dst := rapid.IntRange(0, to.block.Len-n).Draw(t, "to")
	model.OK(t, m.dev.Copy(to.part(dst, n), from.part(src, n)))
	copy(to.want[dst:dst+n], from.want[src:src+n])
}

// copyUnequal is refused before any byte moves: check looks at them.
func (m *deviceModel) copyUnequal(t *rapid.T) {
	m.needContents(t)
	to, from := m.pick(t), m.pick(t)
	dst, n := pickPart(t, to, to.block.Len)
	src, k := pickPart(t, from, from.block.Len)
	if n == k {
		m.Skip(t, "the lengths are equal")
	}
	if err := m.dev.Copy(to.part(dst, n), from.part(src, k)); !errors.Is(err, device.ErrSize) {
		t.Fatalf("Copy of %d bytes to %d: %v, which does not wrap device.ErrSize", k, n, err)
	}
}

// memInfo fails unless there is room for what is out, and no more is free than there is.
func (m *deviceModel) memInfo(t *rapid.T) {
	free, total, err := m.dev.MemInfo()
	if errors.Is(err, device.ErrUnavailable) {
		m.Skip(t, "the device does not say what it has")
	}
	model.OK(t, err)
	out := int64(0)
	for _, b := range m.live() {
		out += int64(b.block.Len)
	}
	if free < 0 || free > total || out > total {
		t.Fatalf("MemInfo says %d of %d bytes free, with %d out", free, total, out)
	}
}

// fill waits for a stream of its own; those of streams.go run on.
func (m *deviceModel) fill(t *rapid.T) {
	m.needContents(t)
	b := m.pick(t)
	off, n := pickPart(t, b, b.block.Len)
	v := rapid.Byte().Draw(t, "value")
	s := model.NewStream(t, m.dev)
	model.OK(t, s.Fill(b.part(off, n), v))
	model.OK(t, s.Sync())
	model.OK(t, s.Close())
	b.fill(off, n, int(v))
}

// pickPages draws a run of pages of the range, or skips the step.
func (m *deviceModel) pickPages(t *rapid.T) (first, n int) {
	if m.span == nil {
		m.Skip(t, "the device reserves no range")
	}
	first = rapid.IntRange(0, len(m.pages)-1).Draw(t, "page")
	return first, rapid.IntRange(1, len(m.pages)-first).Draw(t, "pages")
}

// commit leaves pages alone that are committed already.
func (m *deviceModel) commit(t *rapid.T) {
	first, n := m.pickPages(t)
	size := m.span.Page()
	err := m.span.Commit(first*size, n*size)
	if errors.Is(err, device.ErrOutOfMemory) {
		return
	}
	model.OK(t, err)
	for i := first; i < first+n; i++ {
		if m.pages[i] == nil {
			m.pages[i] = newModelBlock(device.Block{Region: m.span.Region(), Off: i * size, Len: size})
		}
	}
}

// decommit stops at the first page that is not committed: the contract says
// nothing about what happens there.
func (m *deviceModel) decommit(t *rapid.T) {
	first, most := m.pickPages(t)
	n := 0
	for n < most && m.pages[first+n] != nil {
		m.pages[first+n].use.Wait(t)
		m.pages[first+n] = nil
		n++
	}
	model.OK(t, m.span.Decommit(first*m.span.Page(), n*m.span.Page()))
}

// misuse must be refused. The invariant sees that it has changed nothing.
func (m *deviceModel) misuse(t *rapid.T) {
	if len(m.freed) == 0 {
		m.Skip(t, "nothing was freed")
	}
	b := rapid.SampledFrom(m.freed).Draw(t, "freed")
	if slices.ContainsFunc(m.blocks, func(x *modelBlock) bool { return x.block == b }) {
		m.Skip(t, "an equal one is out")
	}
	if !model.Panics(func() { m.dev.Free(b) }) {
		t.Fatalf("second Free of %d bytes did not panic", b.Len)
	}
	if err := m.dev.Copy(b, b); err == nil {
		t.Fatalf("Copy of %d freed bytes gave no error", b.Len)
	}
}

func (m *deviceModel) needContents(t *rapid.T) {
	if !m.contents {
		m.Skip(t, "there are no contents")
	}
}

// close gives everything back, so that a device that counts ends where it began.
func (m *deviceModel) close(t *rapid.T) {
	m.streams.Close(t)
	for _, b := range m.live() {
		b.use = model.Use{}
	}
	m.check(t)
	for _, b := range m.blocks {
		m.dev.Free(b.block)
	}
	if m.span != nil {
		model.OK(t, m.span.Close())
	}
	model.OK(t, m.dev.Close())
}
