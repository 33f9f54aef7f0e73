package percpu

import (
	"fmt"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A magazine is an array of blocks that changes hands as a whole.
type magazine struct {
	entries [magazineSlots]handle.Entry
	n       int32 // outside of class caches
	class   int32 // outside of class caches
	next    *magazine
}

const (
	magazineSlots = 32
	// classBytes bounds the bytes of a class cache, within 2 and 64 blocks: on two
	// processors 8 blocks of 256 KiB were ten times slower than 64 blocks.
	classBytes = 64 << 20
)

// most returns the most blocks of a magazine of a class: two magazines are within
// classBytes.
func most(bytes int64) int32 { return int32(max(1, min(magazineSlots, classBytes/2/bytes))) }

// pop takes the last block if it has size bytes.
func (m *magazine) pop(size int) (e handle.Entry) {
	if at := &m.entries[m.n-1]; at.Slot.Len() >= size {
		e, *at = *at, handle.Entry{}
		m.n--
	}
	return e
}

// cut returns a magazine of the first n blocks of m, which loses them.
func (m *magazine) cut(n int32) *magazine {
	out := &magazine{n: n}
	copy(out.entries[:n], m.entries[:])
	rest := copy(m.entries[:], m.entries[n:])
	clear(m.entries[rest:])
	return out
}

// peek returns a number that only the nth block of a magazine has, until its next owner
// releases it; 0 if there is no block.
func (m *magazine) peek(n int32) uint64 {
	if m == nil || n == 0 {
		return 0
	}
	s := m.entries[(n-1)%magazineSlots].Slot
	if s == nil {
		return 0
	}
	return uint64(s.ID()) ^ s.Generation()
}

// bytes adds up the first n blocks. For a goroutine that looks at another processor's magazine, a
// block or the magazine may be gone since n was read.
func (m *magazine) bytes(n int32) (sum int64) {
	if m == nil {
		return 0
	}
	for i := range n {
		if s := m.entries[i%magazineSlots].Slot; s != nil {
			sum += int64(s.Len())
		}
	}
	return sum
}

// free gives all blocks to the strategy. If the strategy panics, m still has the other blocks.
func (m *magazine) free(to func(handle.Entry)) {
	i := int32(0)
	defer func() {
		n := copy(m.entries[:], m.entries[i:m.n])
		clear(m.entries[n:m.n])
		m.n = int32(n)
	}()
	for i < m.n {
		e := m.entries[i]
		m.entries[i] = handle.Entry{} // or the collector would never find it forgotten
		i++
		to(e)
	}
}

// check panics unless m has n blocks of the class, and no more.
func (m *magazine) check(class int, n int32) {
	if m == nil && n == 0 {
		return
	}
	for i, e := range m.entries {
		if (e.Slot != nil) != (i < int(n)) || e.Slot != nil && e.Slot.Class() != class {
			panic(fmt.Sprintf("percpu: entry %d of %d of class %d is %v", i, n, class, e))
		}
	}
}
