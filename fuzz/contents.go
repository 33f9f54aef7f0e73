package fuzz

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
)

// contents writes and reads blocks, by the CPU where it reaches them and by
// way of their device elsewhere.
type contents struct {
	dev, heap device.Device // dev is nil where the CPU reaches everything
}

func newContents(t *rapid.T, dev device.Device) contents {
	heap, err := device.Open("heap")
	ok(t, err)
	return contents{dev, heap}
}

// put makes b hold m. It does nothing where there is no memory behind b.
func (c contents) put(t *rapid.T, b device.Block, m []byte) {
	if view := device.Bytes(b); view != nil || len(m) == 0 {
		copy(view, m)
		return
	}
	h := c.host(t, len(m))
	copy(device.Bytes(h), m)
	c.move(t, b, h)
}

// get returns what b holds, nil where there is no memory behind it.
func (c contents) get(t *rapid.T, b device.Block) []byte {
	if view := device.Bytes(b); view != nil || b.Len == 0 {
		return view
	}
	h := c.host(t, b.Len)
	if !c.move(t, h, b) {
		return nil
	}
	return device.Bytes(h)
}

func (c contents) host(t *rapid.T, n int) device.Block {
	b, err := c.heap.Alloc(n)
	ok(t, err)
	return b
}

func (c contents) move(t *rapid.T, dst, src device.Block) bool {
	err := c.dev.Copy(dst, src)
	if errors.Is(err, device.ErrUnavailable) {
		return false
	}
	ok(t, err)
	return true
}

// mark returns the n bytes that owner number id writes: no two owners agree
// in more than a few of them, and neither do two positions.
func mark(id, n int) []byte {
	m := make([]byte, n)
	for i := range m {
		m[i] = byte(id*31 + i*7 + i>>8)
	}
	return m
}

// expect fails unless b holds what owner id has written.
func (c contents) expect(t *rapid.T, b device.Block, id int) {
	t.Helper()
	expectMark(t, c.get(t, b), id)
}

func expectMark(t *rapid.T, got []byte, id int) {
	t.Helper()
	for i, want := range mark(id, len(got)) {
		if got[i] != want {
			t.Fatalf("somebody else wrote to a block of %d bytes: byte %d is %#x, not %#x", len(got), i, got[i], want)
		}
	}
}

// drawUpTo draws a size from 1 to most: near a power of two, where strategies
// change their ways, one of those asked for before, or any.
func drawUpTo(t *rapid.T, most int, before []int) int {
	switch k := rapid.IntRange(0, 3).Draw(t, "kind"); {
	case k == 0:
		return rapid.IntRange(1, most).Draw(t, "size")
	case k == 1 && len(before) > 0:
		return rapid.SampledFrom(before).Draw(t, "again")
	}
	return min(max(1, drawSize(t)), most)
}
