package slab

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/internal/pin"
)

// The caches in front of a strategy. Each processor has a shard, and in it a
// magazine a size class: a stack of released blocks. Blocks in a magazine are
// still out of the strategy, slot and all, so that a hit touches neither it
// nor a lock: whoever is pinned to a processor owns its shard.
//
//	cache.go     Get and Release on a magazine, pinned: no lock, no allocation, no panic
//	enter.go     who may be on a shard
//	refill.go    what happens when a magazine is empty
//	overflow.go  what happens when it is full, and how large it may grow
//	depot.go     where full batches wait for other processors
//	rob.go       how a large block is taken from another processor
//	bias.go      how a Release on the processor of its Get does without an atomic operation
//	drain.go     how all shards are emptied by somebody else
//
// The design is Bonwick's (magazines and vmem, USENIX 2001): two batches a
// magazine, so that a program which swings around the edge of one does not go
// to the depot every time.
type cache struct {
	grid    grid
	largest int          // size that is cached; 0: none
	plain   atomic.Int64 // the largest of those that never have a token
	bytes   int64        // a processor may keep
	waiting int64        // bytes that the depot may keep
	share   int64        // and all together no more than 1/share of the managed bytes; 0: no matter
	mags    []magazine
	classes int // magazines a processor
	shards  []shard
	depot   depot
	beyond  outside

	filled   atomic.Bool   // something was cached, for pools with a bound on what is held
	shutting sync.Mutex    // held by whoever shuts magazines, until they are open, or takes a bias
	biased   bool          // whether magazines may have a bias
	biases   atomic.Uint64 // so far; each is given once
}

// A shard is what one processor has. It belongs to whoever is pinned there.
type shard struct {
	mags   []magazine // those of cache that are this processor's
	blank  *batch     // in reserve, for the next magazine that overflows
	victim int
	busy   uint32 // not 0 while somebody is here; see fence

	granted int64 // bytes that mags may hold: the limit and the spare blocks of each

	gets, puts, asked int64 // what no magazine served; asked: bytes got less bytes put

	mu sync.Mutex // where being pinned is not enough; see enter

	_ [64]byte // keeps the next shard off this one's lines
}

// A magazine holds blocks of one class: some in loaded, and below them a batch
// of spare ones or none. Its fields but limit belong to whoever is pinned;
// limit says whether the rest does too. It has a cache line to itself, and a
// hit touches no other but those of the entry and the slot.
type magazine struct {
	loaded, spare *batch
	state         uint64        // hits so far<<loadedBits | blocks in loaded
	asked         int64         // by hits: bytes got less bytes put
	moved         int64         // blocks that batches have brought, less those they took
	limit         atomic.Int32  // of blocks in loaded; negative, ^limit, while all of this is not to be touched
	busy          uint32        // not 0 while somebody is here; see fence
	bias          atomic.Uint32 // the mark of the slots that it hands out; 0: none, see bias.go
	due           uint32        // hits when it may have a bias again
	seen          uint32        // hits at the last drain
	taken         uint8         // how often it has lost its bias
	nspare        int8          // blocks in spare
	misses        uint8         // that others might have served; see rob.go
}

const (
	loadedBits = 8
	loadedMask = 1<<loadedBits - 1
	oneHit     = 1 << loadedBits
)

func (m *magazine) n() int32     { return int32(m.state & loadedMask) }
func (m *magazine) hits() uint32 { return uint32(m.state >> loadedBits) }

// setN is for whoever moves batches; hits count for themselves.
func (m *magazine) setN(n int32) { m.state = m.state&^loadedMask | uint64(n) }

// A batch is a stack of entries that changes hands as a whole.
type batch struct {
	entries [batchLen]entry
	n       int32 // outside of magazines
	class   int32 // likewise
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
	magazineBytes = 64 << 20
	// cachedLimit is the largest block that is cached where whole regions are
	// held anyway; cachedSmall where large blocks are worth more in the heap.
	cachedLimit = 32 << 20
	cachedSmall = 32 << 10
	// aligned is how many magazines are more than 32 KiB: an allocation of its
	// own, on a page. The runtime puts a word in front of smaller ones, and each magazine
	// would be on two lines.
	aligned = 32<<10/lineBytes + 1
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
	k.plain.Store(int64(k.largest))
	k.classes = k.grid.Index(k.largest) + 1
	k.depot.classes = make([]depotClass, k.classes)
	n := k.classes * len(k.shards)
	k.mags = make([]magazine, n, max(n, aligned))
	for i := range k.shards {
		k.shards[i].mags = k.mags[i*k.classes : (i+1)*k.classes]
	}
	k.biased = biasing && pin.HasBarrier()
	k.rebiasAll()
}

// uncached is the class of slots whose blocks are not cached.
func (k *cache) uncached() int { return k.classes }

// magazine returns the one of the processor called id, or nil if it has none:
// GOMAXPROCS was raised above what there was. The caller has entered.
func (k *cache) magazine(id, class int) *magazine {
	if i := id*k.classes + class; i < len(k.mags) {
		return &k.mags[i]
	}
	return nil
}

// shard returns all that the processor has, or nil. The caller has entered and
// calls done when it no longer needs it.
func (k *cache) shard(id int) *shard {
	if id >= len(k.shards) {
		return nil
	}
	s := &k.shards[id]
	s.busy = 1
	return s
}

func (s *shard) done() {
	if s != nil {
		s.busy = 0
	}
}

// pop returns a block for size bytes, if the loaded batch has one. The caller
// has entered. What is in the magazine may only be looked at after the limit.
func (m *magazine) pop(size int) (e entry, ok bool) {
	m.busy = 1
	if m.limit.Load() >= 0 {
		if n := m.state & loadedMask; n != 0 {
			at := &m.loaded.entries[(n-1)&(batchLen-1)]
			e, ok = *at, true
			at.p = nil // or the memory would never be found unused
			if biasing {
				e.s.bias = m.bias.Load()
			}
			m.state += oneHit - 1
			m.asked += int64(size)
		}
	}
	m.busy = 0
	return e, ok
}

// push keeps the block of e, released with size bytes, if the loaded batch
// may have one more. The caller has entered.
func (m *magazine) push(e entry, size int) (ok bool) {
	m.busy = 1
	limit := m.limit.Load()
	if n := m.state & loadedMask; int32(n) < limit {
		m.loaded.entries[n&(batchLen-1)] = e
		m.state += oneHit + 1
		m.asked -= int64(size)
		ok = true
	}
	m.busy = 0
	return ok
}

// outside counts for goroutines that have no shard.
type outside struct{ gets, puts, asked atomic.Int64 }

// countGet counts a Get that no magazine served; countPut a Release.
func (k *cache) countGet(size int) { k.count(1, 0, int64(size)) }
func (k *cache) countPut(size int) { k.count(0, 1, int64(-size)) }

func (k *cache) count(gets, puts, asked int64) {
	id := k.enter()
	s := k.shard(id)
	if s != nil {
		s.gets += gets
		s.puts += puts
		s.asked += asked
	}
	s.done()
	k.leave(id)
	if s != nil {
		return
	}
	k.beyond.gets.Add(gets)
	k.beyond.puts.Add(puts)
	k.beyond.asked.Add(asked)
}
