package slab

import (
	"fmt"
	"slices"
	"sort"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/poison"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// How Check finds a write after Release. A strategy may cut a free block and merge it
// with its neighbours, but writes nothing into it. So Check remembers where poison lies,
// whatever blocks are made of it, and verifies each byte of it once: when the byte is
// handed out again, or just before it goes upstream.

// freedBlocks are the last maxFreed blocks that were freed: the parts of them that still
// lie free in the strategy. Check.mu guards them.
type freedBlocks struct {
	parts map[device.Region][]freedPart // by offset; none overlap
	ring  []freedAt                     // one for each part, and some for parts that are gone
	next  int                           // of ring, where the oldest is
}

// maxFreed bounds what the parts of one region cost: they are moved in memory.
const maxFreed = 1 << 14

// A freedPart is the bytes from off to end of a region, which were in one block.
type freedPart struct {
	off, end int
	of       *freedBlock
}

type freedBlock struct {
	inner     device.Block
	got, came string // where it was got, and how it came back
}

// freedAt finds a part by its offset.
type freedAt struct {
	region device.Region
	off    int
	of     *freedBlock
}

// lookAgain makes c verify the poison of freed blocks. From now on someone calls
// leave for all memory that the strategy gives upstream.
func (c *Check) lookAgain() { c.freed = &freedBlocks{parts: map[device.Region][]freedPart{}} }

// bury poisons a block and remembers that. It leaves one alone that was given to the
// upstream before: its memory may have a new owner.
func (c *Check) bury(k checkedBlock) {
	m := device.Bytes(k.outer)
	if m == nil || !k.painted {
		return
	}
	device.Fill(m, poison.Freed)
	if c.freed == nil {
		return
	}
	f := &freedBlock{inner: k.inner, got: k.got, came: k.late}
	if f.came == "" {
		f.came = "released at " + watch.Caller()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freed.add(k.outer.Region, freedPart{k.outer.Off, k.outer.Off + k.outer.Len, f})
}

// reuse says what was written into b, which the strategy hands out, while it was free.
func (c *Check) reuse(b device.Block) (fault string) {
	for _, p := range c.dig(b) {
		if fault = p.fault(b.Region); fault != "" {
			return fault
		}
	}
	return ""
}

// leave reports what was written into b, which goes upstream, while it was free. The
// caller may hold the strategy's locks.
func (c *Check) leave(b device.Block) {
	for _, p := range c.dig(b) {
		if fault := p.fault(b.Region); fault != "" {
			c.report(fault)
		}
	}
}

// dig forgets and returns what b has of freed blocks.
func (c *Check) dig(b device.Block) []freedPart {
	if c.freed == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freed.cut(b)
}

// fault says what is no poison of p, or "".
func (p freedPart) fault(r device.Region) string {
	m := device.Bytes(device.Block{Region: r, Off: p.off, Len: p.end - p.off})
	i := poison.Unlike(m, poison.Freed)
	if i < 0 {
		return ""
	}
	b := p.of.inner
	return fmt.Sprintf("slab: something wrote at offset %d of a block of %d bytes while it was free: allocated at %s, %s",
		p.off+i-b.Off, b.Len, p.of.got, p.of.came)
}

// add remembers p, and forgets the oldest part if there are too many.
func (f *freedBlocks) add(r device.Region, p freedPart) {
	l := f.parts[r]
	i := f.find(l, p.off)
	f.parts[r] = slices.Insert(l, i, p)
	at := freedAt{r, p.off, p.of}
	if len(f.ring) < maxFreed {
		f.ring = append(f.ring, at)
		return
	}
	f.ring[f.next], at = at, f.ring[f.next]
	f.next = (f.next + 1) % maxFreed
	f.forget(at)
}

// forget removes the part that begins at a, if it is there still.
func (f *freedBlocks) forget(a freedAt) {
	l := f.parts[a.region]
	if i := f.find(l, a.off); i < len(l) && l[i].off == a.off && l[i].of == a.of {
		f.set(a.region, slices.Delete(l, i, i+1))
	}
}

// find returns the first of l that ends behind off.
func (f *freedBlocks) find(l []freedPart, off int) int {
	return sort.Search(len(l), func(i int) bool { return l[i].end > off })
}

// cut removes and returns what lies in b. What lies beside b stays.
func (f *freedBlocks) cut(b device.Block) (in []freedPart) {
	l, lo, hi := f.parts[b.Region], b.Off, b.Off+b.Len
	i := f.find(l, lo)
	j := i
	for ; j < len(l) && l[j].off < hi; j++ {
		p := l[j]
		in = append(in, freedPart{max(p.off, lo), min(p.end, hi), p.of})
	}
	if i == j {
		return nil
	}
	first, last := l[i], l[j-1]
	l = slices.Delete(l, i, j)
	if first.off < lo {
		l = slices.Insert(l, i, freedPart{first.off, lo, first.of})
	}
	f.set(b.Region, l)
	if last.end > hi {
		f.add(b.Region, freedPart{hi, last.end, last.of})
	}
	return in
}

func (f *freedBlocks) set(r device.Region, l []freedPart) {
	if len(l) == 0 {
		delete(f.parts, r)
		return
	}
	f.parts[r] = l
}
