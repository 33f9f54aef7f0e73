package percpu

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/pin"
)

// Served counts calls. In a later reading no number is smaller.
type Served struct {
	Hits, Misses  int64 // Gets without and with a call upstream
	Releases      int64
	Got, Released int64 // bytes as asked for, of all Gets and of all Releases
}

// Gets counts all Gets.
func (s Served) Gets() int64 { return s.Hits + s.Misses }

// Out returns the Gets of one reading less the Releases of a later one, and their bytes: at each moment in between
// as much was out, or more.
func Out(before, after Served) (blocks, bytes int64) {
	return before.Gets() - after.Releases, before.Got - after.Released
}

func (s *Served) add(o Served) {
	s.Hits += o.Hits
	s.Releases += o.Releases
	s.Got += o.Got
	s.Released += o.Released
}

// Usage has the counts of all calls, and the blocks in the caches and the depot. A block that changes caches
// meanwhile may count twice, or not at all.
type Usage struct {
	Served
	Blocks, Bytes int64
}

// Passed counts the Gets that no class cache served.
func (c *Cache) Passed() int64 { return c.counted().Gets() }

// Gets counts the Gets of all processors.
func (c *Cache) Gets() int64 { return c.Served().Gets() }

// plain says that a number which one goroutine writes by a plain instruction can be read by others.
const plain = pin.Exclusive && bits.UintSize == 64

// counted reads the counts of calls that no class cache serves. Between the two readings of Out it must not wait
// for a lock.
func (c *Cache) counted() Served {
	if !plain {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	s := &c.counts.Served
	return Served{
		atomic.LoadInt64(&s.Hits), atomic.LoadInt64(&s.Misses), atomic.LoadInt64(&s.Releases),
		atomic.LoadInt64(&s.Got), atomic.LoadInt64(&s.Released),
	}
}

// Served adds up the counts of all processors.
func (c *Cache) Served() Served {
	s := c.counted()
	for i := range c.cpus {
		s.add(c.cpus[i].usage(nil).Served)
	}
	return s
}

// Usage adds up the figures of all processors.
func (c *Cache) Usage() (u Usage) {
	u.Blocks, u.Bytes = c.depot.usage(c.bytes)
	u.Served = c.counted()
	for i := range c.cpus {
		v := c.cpus[i].usage(c.bytes)
		u.Served.add(v.Served)
		u.Blocks += v.Blocks
		u.Bytes += v.Bytes
	}
	return u
}

// OutBytes returns bytes that are out: see Out.
func (c *Cache) OutBytes() int64 {
	_, bytes := Out(c.Served(), c.Served())
	return bytes
}

// bytes adds up the first n blocks of a magazine. It looks at each block only where blocks of the class differ.
func (c *Cache) bytes(class int, m *magazine, n int32) int64 {
	if exact := c.options.ExactAbove; exact > 0 && c.BlockBytes(class) > int64(exact) {
		return m.bytes(n)
	}
	return int64(n) * c.BlockBytes(class)
}

// usage is Usage of one processor. Without bytes it does not look at blocks.
func (p *cpu) usage(bytes func(class int, m *magazine, n int32) int64) Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		arms := p.arms.Load()
		u := Usage{Served: p.served()}
		if bytes != nil {
			for _, class := range p.used[:p.known.Load()] {
				k := p.moment(class)
				u.Blocks += int64(k.state.n()) + int64(k.nprevious)
				u.Bytes += bytes(int(class), k.loaded, k.state.n()) + bytes(int(class), k.previous, k.nprevious)
			}
		}
		if arms%2 == 0 && p.arms.Load() == arms { // else Gets went from a class cache to gets
			return u
		}
		runtime.Gosched()
	}
}
