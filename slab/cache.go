package slab

import (
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/internal/pin"
)

// The caches in front of a strategy: each processor keeps released blocks in
// magazines, a stack a size class, and counts what went through. Blocks in a
// magazine are still out of the strategy, slot and all, so that a hit touches
// neither it nor the pool's lock.
type cache struct {
	classes Classes
	largest int   // size that is cached; 0: none
	bytes   int64 // a processor may keep
	share   int64 // and together no more than 1/share of the managed bytes; 0: no matter
	shards  []shard
}

type shard struct {
	mu     sync.Mutex
	mags   []magazine
	bytes  int64
	blocks int64
	victim int
	closed bool

	gets, puts, asked int64 // asked: bytes got less bytes put
	doubles           int64

	_ [64]byte // keeps the next shard off this one's line
}

type magazine struct {
	entries []entry
	touched bool // since the last tick
}

// An entry is a block in a cache. It carries the slot's generation, so that a
// hit reads no slot, and the memory's address, which keeps it alive.
type entry struct {
	s   *slot
	p   unsafe.Pointer
	gen uint64
}

// magazineBytes bounds what a magazine keeps, within 2 and 64 entries: on two
// processors 8 entries of 256 KiB were ten times slower than 64.
const magazineBytes = 32 << 20

// class returns the class that a buffer of n bytes is cached in, or -1.
func (k *cache) class(n int) int {
	if n <= 0 || n > k.largest {
		return -1
	}
	return k.classes.Index(n)
}

func (k *cache) shard() *shard { return &k.shards[uint(pin.ID())%uint(len(k.shards))] }

// pop returns a block of the class for n bytes.
func (s *shard) pop(class, n int) (e entry, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if class >= len(s.mags) {
		return e, false
	}
	m := &s.mags[class]
	k := len(m.entries)
	if k == 0 {
		return e, false
	}
	e, m.entries[k-1], m.entries = m.entries[k-1], entry{}, m.entries[:k-1]
	m.touched = true
	s.bytes -= int64(e.s.len)
	s.blocks--
	s.gets++
	s.asked += int64(n)
	return e, true
}

// push counts a release of n bytes and keeps the block if the budget allows.
// What has to leave for it is appended to spill; kept is false if the block
// itself has to.
func (s *shard) push(e entry, n int, budget int64, spill []entry) (out []entry, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	s.asked -= int64(n)
	class, size := int(e.s.class), int64(e.s.len)
	if class < 0 || s.closed || size > budget {
		return spill, false
	}
	for len(s.mags) <= class {
		s.mags = append(s.mags, magazine{})
	}
	if m := &s.mags[class]; len(m.entries) >= min(max(magazineBytes/int(size), 2), 64) {
		spill = s.spill(m, (len(m.entries)+1)/2, spill)
	}
	for s.bytes+size > budget {
		spill = s.evict(spill)
	}
	m := &s.mags[class]
	m.entries = append(m.entries, e)
	m.touched = true
	s.bytes += size
	s.blocks++
	return spill, true
}

// evict takes the coldest half of some magazine.
func (s *shard) evict(spill []entry) []entry {
	for {
		s.victim = (s.victim + 1) % len(s.mags)
		if m := &s.mags[s.victim]; len(m.entries) > 0 {
			return s.spill(m, (len(m.entries)+1)/2, spill)
		}
	}
}

// spill moves the n coldest entries of m, those at the bottom.
func (s *shard) spill(m *magazine, n int, spill []entry) []entry {
	for _, e := range m.entries[:n] {
		s.bytes -= int64(e.s.len)
	}
	s.blocks -= int64(n)
	spill = append(spill, m.entries[:n]...)
	k := copy(m.entries, m.entries[n:])
	clear(m.entries[k:])
	m.entries = m.entries[:k]
	return spill
}

// drain empties the magazines, or only those not touched since the last drain.
func (s *shard) drain(idle bool) (spill []entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.mags {
		m := &s.mags[i]
		if !idle || !m.touched {
			spill = s.spill(m, len(m.entries), spill)
		}
		m.touched = false
	}
	return spill
}

// count adds a Get of n bytes that no magazine served.
func (s *shard) count(n int) {
	s.mu.Lock()
	s.gets++
	s.asked += int64(n)
	s.mu.Unlock()
}

// close makes the shard keep nothing from now on.
func (s *shard) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
}

const (
	// cachedLimit is the largest block that is cached where whole regions are
	// held anyway; cachedSmall where large blocks are worth more in the heap.
	cachedLimit = 32 << 20
	cachedSmall = 32 << 10
	// smallShare is the part of the managed bytes that caches may hold then.
	smallShare = 16
)

// newCache returns the caches that c asks for; without any it only counts.
func newCache(c Config) cache {
	k := cache{shards: make([]shard, runtime.GOMAXPROCS(0))}
	if c.CacheBytes <= 0 || c.Check {
		return k
	}
	switch c.Strategy {
	case "sizeclass":
		k.classes, k.largest = Grid(c.Steps, c.Align), cachedLimit
	case "bestfit", "slab":
		k.classes, k.largest, k.share = Grid(8, c.Align), cachedSmall, smallShare
	}
	k.bytes = k.allowed(c)
	if n := c.MaxBlockBytes; n > 0 && n < int64(k.largest) {
		k.largest = largestWithin(k.classes, int(n))
	}
	if k.bytes < min(c.CacheBytes, leastCache) {
		k.largest = 0
	}
	return k
}

// largestWithin returns the size of the largest class of at most n bytes, or 0.
func largestWithin(c Classes, n int) int {
	for i := c.Index(n); i >= 0; i-- {
		if size := c.Size(i); size <= n {
			return size
		}
	}
	return 0
}

// leastCache is the least worth having where what may be held is bounded.
const leastCache = 64 << 10

// allowed returns the bytes that a processor may cache as far as Config bounds
// what is held: all caches together a quarter of it. Where blocks are counted
// nothing is cached, as a cache is not the place to count them.
func (k *cache) allowed(c Config) int64 {
	switch {
	case c.MaxHeldBlocks < 0, c.MaxHeldBlocks > 0 && c.MaxHeldBlocks < math.MaxInt:
		return 0
	case c.MaxHeld != 0:
		return min(c.CacheBytes, heldLimit(c.MaxHeld)/4/int64(len(k.shards)))
	}
	return c.CacheBytes
}

// held returns what is left of Config.MaxHeld for the strategy.
func (k *cache) held(c Config) int64 {
	if c.MaxHeld <= 0 || k.largest == 0 {
		return c.MaxHeld
	}
	return c.MaxHeld - k.bytes*int64(len(k.shards))
}

// budget returns the bytes that a processor may keep now.
func (k *cache) budget(l *ledger) int64 {
	if k.share == 0 {
		return k.bytes
	}
	return min(k.bytes, l.managed.Load()/k.share/int64(len(k.shards)))
}
