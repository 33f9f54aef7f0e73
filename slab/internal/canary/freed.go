package canary

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/poison"
)

// How a Check finds a write after Free. A strategy may cut a free block and merge it
// with its neighbours, but writes nothing into it. So a Check remembers where poison is,
// whatever blocks are made of it, and verifies each byte of it once: when the byte is
// handed out again, or just before it goes upstream.

// freed are the last maxFreed blocks that were freed: the parts of them that are still
// free in the strategy. A nil freed remembers none.
type freed struct {
	mu    sync.Mutex               // leaf
	parts map[device.Region][]part // by offset; none overlap
	ring  []partAt                 // one for each part, and some for parts that are gone
	next  int                      // of ring, where the oldest is
}

// maxFreed bounds what the parts of one region cost: they are moved in memory.
const maxFreed = 1 << 14

// A part is the bytes from off to end of a region, which were in one block.
type part struct {
	off, end int
	of       *history
}

// A history is what is known of a freed block.
type history struct {
	block     device.Block
	got, came string // where it was got, and how it came back
}

// partAt finds a part by its offset.
type partAt struct {
	region device.Region
	off    int
	of     *history
}

// enter remembers the poison in b.
func (f *freed) enter(b device.Block, of *history) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(b.Region, part{b.Off, b.Off + b.Len, of})
}

// written forgets what b has of freed blocks, and says what was written into that. It reports whether all of b was in
// freed blocks: then it is full of poison.
func (f *freed) written(b device.Block) (found []string, poisoned bool) {
	if f == nil {
		return nil, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	left := b.Len
	for _, p := range f.cut(b) {
		if fault := p.fault(b.Region); fault != "" {
			found = append(found, fault)
		}
		left -= p.end - p.off
	}
	return found, left == 0
}

// fault says what is no poison of p, or "".
func (p part) fault(r device.Region) string {
	m := device.Bytes(device.Block{Region: r, Off: p.off, Len: p.end - p.off})
	i := poison.Unlike(m, poison.Freed)
	if i < 0 {
		return ""
	}
	b := p.of.block
	return fmt.Sprintf("slab: something wrote at offset %d of a block of %d bytes while it was free: allocated at %s, %s",
		p.off+i-b.Off, b.Len, p.of.got, p.of.came)
}

// add remembers p, and forgets the oldest part if there are too many.
func (f *freed) add(r device.Region, p part) {
	l := f.parts[r]
	i := find(l, p.off)
	f.parts[r] = slices.Insert(l, i, p)
	at := partAt{r, p.off, p.of}
	if len(f.ring) < maxFreed {
		f.ring = append(f.ring, at)
		return
	}
	f.ring[f.next], at = at, f.ring[f.next]
	f.next = (f.next + 1) % maxFreed
	f.forget(at)
}

// forget removes the part that begins at a, if it is there still.
func (f *freed) forget(a partAt) {
	l := f.parts[a.region]
	if i := find(l, a.off); i < len(l) && l[i].off == a.off && l[i].of == a.of {
		f.set(a.region, slices.Delete(l, i, i+1))
	}
}

// find returns the first of l that ends behind off.
func find(l []part, off int) int {
	return sort.Search(len(l), func(i int) bool { return l[i].end > off })
}

// cut removes and returns what is in b. The rest of its parts stays.
func (f *freed) cut(b device.Block) (in []part) {
	l, lo, hi := f.parts[b.Region], b.Off, b.Off+b.Len
	i := find(l, lo)
	j := i
	for ; j < len(l) && l[j].off < hi; j++ {
		p := l[j]
		in = append(in, part{max(p.off, lo), min(p.end, hi), p.of})
	}
	if i == j {
		return nil
	}
	first, last := l[i], l[j-1]
	l = slices.Delete(l, i, j)
	if first.off < lo {
		l = slices.Insert(l, i, part{first.off, lo, first.of})
	}
	f.set(b.Region, l)
	if last.end > hi {
		f.add(b.Region, part{hi, last.end, last.of})
	}
	return in
}

func (f *freed) set(r device.Region, l []part) {
	if len(l) == 0 {
		delete(f.parts, r)
		return
	}
	f.parts[r] = l
}
