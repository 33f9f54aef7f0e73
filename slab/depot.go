package slab

import (
	"sync"
	"sync/atomic"
)

// The depot is where full batches wait until a processor's magazine is empty:
// memory that is got on one processor and released on another goes round by 32
// blocks at a time.
type depot struct {
	classes []depotClass
	bytes   atomic.Int64
	stopped atomic.Bool // nothing is kept any more, here and in magazines
}

type depotClass struct {
	mu    sync.Mutex
	full  atomic.Pointer[batch] // last in first out; under mu, but whoever finds none needs no lock
	count int
	low   int    // least count since the last drain: batches that nobody needed
	empty *batch // for reuse
	_     [24]byte
}

// depotBytes bounds the depot where memory is held anyway: a hard bound below
// what a program hands over made it a thousand times slower.
const depotBytes = 1 << 30

// take returns a full batch of the class, or nil. It is the caller's.
func (d *depot) take(class int, size int64) *batch {
	c := &d.classes[class]
	if c.full.Load() == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.full.Load()
	if b == nil {
		return nil
	}
	c.full.Store(b.next)
	b.next = nil
	c.count--
	c.low = min(c.low, c.count)
	d.bytes.Add(-int64(b.n) * size)
	return b
}

// put keeps a batch for others, unless that would be more than limit bytes. A
// drain that begins after the depot was stopped finds all that was put.
func (d *depot) put(b *batch, size, limit int64) bool {
	n := int64(b.n) * size
	if d.bytes.Add(n) > limit {
		d.bytes.Add(-n)
		return false
	}
	c := &d.classes[b.class]
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.stopped.Load() {
		d.bytes.Add(-n)
		return false
	}
	b.next = c.full.Load()
	c.full.Store(b)
	c.count++
	return true
}

// blank returns an empty batch; recycle takes one back.
func (d *depot) blank(class int) *batch {
	c := &d.classes[class]
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.empty
	if b == nil {
		return new(batch)
	}
	c.empty, b.next = b.next, nil
	return b
}

func (d *depot) recycle(class int, b *batch) {
	if b == nil {
		return
	}
	c := &d.classes[class]
	c.mu.Lock()
	defer c.mu.Unlock()
	b.n, b.next, c.empty = 0, c.empty, b
}

// drain takes all batches, or only as many as nobody has needed since the last
// drain, out and appends their entries to spill. Blank batches go too.
func (d *depot) drain(idle bool, size func(class int) int64, spill []entry) []entry {
	for i := range d.classes {
		c := &d.classes[i]
		c.mu.Lock()
		n := c.count
		if idle {
			n = c.low
		}
		for ; n > 0; n-- {
			b := c.full.Load()
			c.full.Store(b.next)
			c.count--
			spill = append(spill, b.entries[:b.n]...)
			d.bytes.Add(-int64(b.n) * size(i))
		}
		c.low, c.empty = c.count, nil
		c.mu.Unlock()
	}
	return spill
}

// usage adds up what is in the depot.
func (d *depot) usage(size func(class int) int64) (t tally) {
	for i := range d.classes {
		c := &d.classes[i]
		c.mu.Lock()
		for b := c.full.Load(); b != nil; b = b.next {
			t.blocks += int64(b.n)
			t.bytes += int64(b.n) * size(i)
		}
		c.mu.Unlock()
	}
	return t
}
