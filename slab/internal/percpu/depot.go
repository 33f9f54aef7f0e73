package percpu

import (
	"sync"
	"sync/atomic"
)

// In the depot magazines with blocks wait until a processor's class cache is empty:
// memory that is got on one processor and released on another goes back by up to 32
// blocks at a time.
type depot struct {
	classes []depotClass
	bytes   atomic.Int64
	stops   atomic.Int32 // above 0 nothing is kept, here and in class caches
}

func (d *depot) stopped() bool { return d.stops.Load() > 0 }

type depotClass struct {
	mu    sync.Mutex
	full  atomic.Pointer[magazine] // last in, first out; changed under mu, read without
	have  atomic.Int32             // full magazines; changed under mu, read without
	low   int32                    // least count since the last reclaim: that number was not needed
	empty *magazine                // for reuse
	_     [32]byte
}

// has reports whether there was a full magazine of the class a moment ago.
func (d *depot) has(class int) bool { return d.classes[class].full.Load() != nil }

// take returns a full magazine of the class, or nil.
func (d *depot) take(class int, size int64) *magazine {
	c := &d.classes[class]
	if !d.has(class) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.full.Load()
	if m != nil {
		c.pop()
		c.low = min(c.low, c.have.Load())
		d.bytes.Add(-int64(m.n) * size)
	}
	return m
}

// pop unlinks the first full magazine. The caller holds mu.
func (c *depotClass) pop() *magazine {
	m := c.full.Load()
	c.full.Store(m.next)
	m.next = nil
	c.have.Add(-1)
	return m
}

// put keeps a magazine for others, unless the depot would then have more than most bytes. A
// reclaim that begins after the depot was stopped finds all magazines that were put.
func (d *depot) put(m *magazine, size, most int64) bool {
	n := int64(m.n) * size
	c := &d.classes[m.class]
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.bytes.Add(n) > most || d.stopped() {
		d.bytes.Add(-n)
		return false
	}
	c.link(m)
	return true
}

// link makes m the first full magazine. The caller holds mu.
func (c *depotClass) link(m *magazine) {
	m.next = c.full.Load()
	c.full.Store(m)
	c.have.Add(1)
}

// restore puts linked magazines back that put has refused or a reclaim has taken, without
// regard to the bounds. The next reclaim finds them.
func (d *depot) restore(m *magazine, size func(class int) int64) {
	for m != nil {
		next := m.next
		if m.n > 0 {
			d.push(m, int64(m.n)*size(int(m.class)))
		}
		m = next
	}
}

func (d *depot) push(m *magazine, bytes int64) {
	d.bytes.Add(bytes)
	c := &d.classes[m.class]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link(m)
}

// emptyMagazine returns an empty magazine for the class.
func (d *depot) emptyMagazine(class int) *magazine {
	c := &d.classes[class]
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.empty
	if m == nil {
		return &magazine{class: int32(class)}
	}
	c.empty, m.next = m.next, nil
	return m
}

// recycle keeps an empty magazine for emptyMagazine.
func (d *depot) recycle(m *magazine) {
	c := &d.classes[m.class]
	c.mu.Lock()
	defer c.mu.Unlock()
	m.n, m.next, c.empty = 0, c.empty, m
}

// reclaim takes out all full magazines, or only magazines that were not needed since the
// last reclaim, and links them to out. Empty magazines go, too.
func (d *depot) reclaim(idle bool, size func(class int) int64, out *magazine) *magazine {
	for i := range d.classes {
		c := &d.classes[i]
		c.mu.Lock()
		n := c.have.Load()
		if idle {
			n = c.low
		}
		for ; n > 0; n-- {
			m := c.pop()
			d.bytes.Add(-int64(m.n) * size(i))
			m.next, out = out, m
		}
		c.low, c.empty = c.have.Load(), nil
		c.mu.Unlock()
	}
	return out
}

// usage counts the blocks in the depot, whose bytes are counted by bytes.
func (d *depot) usage(of func(class int, m *magazine, n int32) int64) (blocks, bytes int64) {
	if d.bytes.Load() == 0 {
		return 0, 0
	}
	for i := range d.classes {
		if d.has(i) {
			n, sum := d.classes[i].usage(i, of)
			blocks += n
			bytes += sum
		}
	}
	return blocks, bytes
}

func (c *depotClass) usage(class int, of func(class int, m *magazine, n int32) int64) (blocks, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for m := c.full.Load(); m != nil; m = m.next {
		blocks += int64(m.n)
		bytes += of(class, m, m.n)
	}
	return blocks, bytes
}
