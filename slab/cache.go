package slab

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The caches in front of a strategy. Each processor has a shard, and in it a
// magazine a size class: a stack of released blocks. Blocks in a magazine are
// still out of the strategy, slot and all, so that a hit touches neither it
// nor a lock: whoever is pinned to a processor owns its shard.
//
//	cache.go     Get and Release on a shard, pinned: no lock, no allocation, no panic
//	enter.go     who may be on a shard
//	refill.go    what happens when a magazine is empty or full
//	depot.go     where full batches wait for other processors
//	drain.go     how all shards are emptied by somebody else
//
// The design is Bonwick's (magazines and vmem, USENIX 2001): two batches a
// magazine, so that a program which swings around the edge of one does not go
// to the depot every time.
type cache struct {
	grid    grid
	largest int   // size that is cached; 0: none
	bytes   int64 // a processor may keep
	waiting int64 // bytes that the depot may keep
	share   int64 // and all together no more than 1/share of the managed bytes; 0: no matter
	shards  []shard
	depot   depot
	beyond  outside
	stopped atomic.Bool
}

// A shard is what one processor has. Its fields but limit belong to whoever is
// pinned there; limit says whether the magazines do too.
type shard struct {
	limit atomic.Int64 // of bytes; negative while the magazines are not to be touched
	bytes int64        // in the magazines

	gets, puts, asked int64 // asked: bytes got less bytes put

	mags   []magazine
	victim int
	mu     sync.Mutex // where being pinned is not enough; see enter

	_ [64]byte // keeps the next shard off this one's lines
}

// A magazine holds blocks of one class, all of size bytes: n in loaded, and a
// batch full of them or none in spare.
type magazine struct {
	loaded, spare *batch
	size          int64
	n, cap        int32 // cap is 0 until the batches are there
	spareFull     bool
	uses, seen    uint32 // uses so far; at the last drain
	_             [16]byte
}

// A batch is a stack of entries that changes hands as a whole.
type batch struct {
	entries [batchLen]entry
	n       int32 // outside of magazines
	next    *batch
}

// An entry is a block in a cache. It carries the slot's generation, so that a
// hit reads no slot, and the memory's address, which keeps it alive.
type entry struct {
	s   *slot
	p   unsafe.Pointer
	gen uint64
}

const (
	batchLen = 32
	// magazineBytes bounds the blocks of a magazine, within 2 and 64 of them:
	// on two processors 8 blocks of 256 KiB were ten times slower than 64.
	magazineBytes = 32 << 20
	// cachedLimit is the largest block that is cached where whole regions are
	// held anyway; cachedSmall where large blocks are worth more in the heap.
	cachedLimit = 32 << 20
	cachedSmall = 32 << 10
	// smallShare is the part of the managed bytes that caches may hold then.
	smallShare = 16
)

// init makes the caches that c asks for; without any they only count.
func (k *cache) init(c Config) {
	k.shards = make([]shard, max(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	if c.CacheBytes <= 0 || c.Check || c.Record != "" {
		return
	}
	switch c.Strategy {
	case "sizeclass":
		k.grid, k.largest = newGrid(c.Steps, c.Align), cachedLimit
	case "bestfit", "slab":
		k.grid, k.largest, k.share = newGrid(8, c.Align), cachedSmall, smallShare
	default:
		return
	}
	k.bytes, k.waiting = c.CacheBytes, depotBytes
	if k.bound(c); k.largest == 0 {
		return
	}
	classes := k.grid.Index(k.largest) + 1
	k.depot.classes = make([]depotClass, classes)
	for i := range k.shards {
		k.shards[i].mags = make([]magazine, classes+1) // the last one never has room
		for j := range classes {
			k.shards[i].mags[j].size = int64(k.grid.Size(j))
		}
		if k.share == 0 {
			k.shards[i].limit.Store(k.bytes)
		}
	}
}

// uncached is the class of slots whose blocks are not cached.
func (k *cache) uncached() int { return len(k.depot.classes) }

// pop returns a block of the class for size bytes, if the loaded batch has
// one. The caller has entered.
func (s *shard) pop(class, size int) (e entry, ok bool) {
	if s.limit.Load() < 0 { // first: what is read before may be older than a drain that has ended since
		return e, false
	}
	m := &s.mags[class]
	n := m.n - 1
	if n < 0 {
		return e, false
	}
	at := &m.loaded.entries[n&(batchLen-1)]
	e = *at
	at.p = nil // or the memory would never be found unused
	m.n = n
	m.uses++
	s.bytes -= m.size
	s.gets++
	s.asked += int64(size)
	return e, true
}

// push keeps the block of e, released with size bytes, if the loaded batch
// and the limit have room. The caller has entered.
func (s *shard) push(class int, e entry, size int) bool {
	limit := s.limit.Load() // first, as in pop
	m := &s.mags[class]
	n := m.n
	if n >= m.cap || s.bytes+m.size > limit {
		return false
	}
	m.loaded.entries[n&(batchLen-1)] = e
	m.n = n + 1
	m.uses++
	s.bytes += m.size
	s.puts++
	s.asked -= int64(size)
	return true
}

// unload makes the spare batch the loaded one if that is empty and the spare
// one full; reload if that is full and the spare one blank. They look again, as
// somebody else may have been here since. The caller has entered, and the
// limit is not negative.
func (m *magazine) unload() bool {
	if m.n > 0 || !m.spareFull {
		return false
	}
	m.loaded, m.spare, m.spareFull, m.n = m.spare, m.loaded, false, m.cap
	return true
}

func (m *magazine) reload() bool {
	if m.n < m.cap || m.spareFull || m.spare == nil {
		return false
	}
	m.loaded, m.spare, m.spareFull, m.n = m.spare, m.loaded, true, 0
	return true
}

// outside counts for goroutines that have no shard.
type outside struct{ gets, puts, asked atomic.Int64 }

// countGet counts a Get that no magazine served; countPut a Release.
func (k *cache) countGet(size int) {
	s := k.enter()
	if s != nil {
		s.gets++
		s.asked += int64(size)
	}
	k.leave(s)
	if s != nil {
		return
	}
	k.beyond.gets.Add(1)
	k.beyond.asked.Add(int64(size))
}

func (k *cache) countPut(size int) {
	s := k.enter()
	if s != nil {
		s.puts++
		s.asked -= int64(size)
	}
	k.leave(s)
	if s != nil {
		return
	}
	k.beyond.puts.Add(1)
	k.beyond.asked.Add(int64(-size))
}
