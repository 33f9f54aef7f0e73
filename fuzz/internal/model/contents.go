package model

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
)

// Contents writes and reads blocks: directly where the CPU reaches them, by
// copies of Dev elsewhere.
type Contents struct {
	Dev device.Device // nil where the CPU reaches everything
}

// Solid reports whether there is memory behind addresses.
func (c Contents) Solid(t *rapid.T) bool {
	if c.Dev == nil {
		return true
	}
	b, err := c.Dev.Alloc(1)
	OK(t, err)
	defer c.Dev.Free(b)
	return c.copy(t, b, device.Host([]byte{1}))
}

// Put makes b hold m. It does nothing where there is no memory behind b.
func (c Contents) Put(t *rapid.T, b device.Block, m []byte) {
	if view := device.Bytes(b); view != nil || len(m) == 0 {
		copy(view, m)
		return
	}
	c.copy(t, b, device.Host(m))
}

// Get returns what b holds, nil where there is no memory behind it.
func (c Contents) Get(t *rapid.T, b device.Block) []byte {
	if view := device.Bytes(b); view != nil || b.Len == 0 {
		return view
	}
	m := make([]byte, b.Len)
	if !c.copy(t, device.Host(m), b) {
		return nil
	}
	return m
}

// copy reports whether there was memory to copy.
func (c Contents) copy(t *rapid.T, dst, src device.Block) bool {
	err := c.Dev.Copy(dst, src)
	if errors.Is(err, device.ErrUnavailable) {
		return false
	}
	OK(t, err)
	return true
}

// Expect fails unless b holds what owner id has written.
func (c Contents) Expect(t *rapid.T, b device.Block, id int) {
	t.Helper()
	ExpectMark(t, c.Get(t, b), id)
}

// Mark returns the n bytes that owner number id writes. The marks of two owners
// agree in a few bytes only, and so do two positions of one.
func Mark(id, n int) []byte {
	m := make([]byte, n)
	for i := range m {
		m[i] = markByte(id, i)
	}
	return m
}

func markByte(id, i int) byte { return byte(id*31 + i*7 + i>>8) }

// ExpectMark fails unless m is the mark of owner id.
func ExpectMark(t *rapid.T, m []byte, id int) {
	t.Helper()
	for i, got := range m {
		if want := markByte(id, i); got != want {
			t.Fatalf("another owner wrote to a block of %d bytes: byte %d is %#x, not %#x", len(m), i, got, want)
		}
	}
}

// ExpectBytes fails unless m is want. It does nothing where there is no memory behind m.
func ExpectBytes(t *rapid.T, m, want []byte) {
	t.Helper()
	for i, got := range m {
		if got != want[i] {
			t.Fatalf("another owner wrote to a block of %d bytes: byte %d is %#x, not %#x", len(m), i, got, want[i])
		}
	}
}

// ExpectZeros fails unless m is cleared.
func ExpectZeros(t *rapid.T, m []byte) {
	t.Helper()
	for i, v := range m {
		if v != 0 {
			t.Fatalf("byte %d of %d is %#x, not 0", i, len(m), v)
		}
	}
}
