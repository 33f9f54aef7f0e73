package percpu

import (
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A ClassCache holds blocks of one class on one processor: some in loaded, and
// below them a previous magazine or none. Only the pinned goroutine may change
// its fields, and only while limit >= 0; limit itself is atomic. Usage and worthClosing
// read them from outside, without synchronisation. A ClassCache fills one cache line. A hit
// touches that line, the line of the entry, and the line of the slot.
type ClassCache struct {
	loaded, previous *magazine
	state            state // blocks in loaded, and Gets
	got, released    int64 // bytes, by hits
	moved            int64 // blocks that magazines have brought, less blocks that they took

	// Pads to a cache line where pointers are short. Do not put it last: Go adds a byte after a
	// final field of size 0.
	_ [lineBytes - 48 - 2*unsafe.Sizeof(uintptr(0))]byte

	limit     atomic.Int32 // of blocks in loaded; negative, ^limit, while the class cache is closed
	busy      uint32       // not 0 while a goroutine is here; see quiesce
	_         uint32
	nprevious int32 // blocks in previous
}

const lineBytes = 64

// Enter begins a Get, which Leave ends. It reports whether there is a block to take: the loaded
// magazine has blocks, and c is not due (due sets the sign bit). The caller is pinned. limit must be
// read before all else.
func (c *ClassCache) Enter() bool {
	c.busy = 1
	return c.limit.Load() >= 0 && int32(c.state)&(due|loadedMask) > 0
}

// Top returns the block that Take takes.
func (c *ClassCache) Top() *handle.Entry {
	return &c.loaded.entries[uint32(c.state-1)%magazineSlots]
}

// Take takes the block that Top has returned, for a Get of size bytes.
func (c *ClassCache) Take(at *handle.Entry, size int) (e handle.Entry) {
	e, *at = *at, handle.Entry{} // or the collector would never find it forgotten
	c.state += oneGet - 1
	c.got += int64(size)
	return e
}

// Leave ends the Get that Enter began.
func (c *ClassCache) Leave() {
	c.busy = 0
}

// Push keeps a block that was released with size bytes, if the loaded magazine
// may have one block more. The caller is pinned.
func (c *ClassCache) Push(e handle.Entry, size int) (kept bool) {
	c.busy = 1
	if n := c.state & loadedMask; int32(n) < c.limit.Load() {
		c.loaded.entries[n%magazineSlots] = e
		c.state++
		c.released += int64(size)
		c.busy = 0
		return true
	}
	c.busy = 0
	return false
}

// enter is Enter that ignores due.
func (c *ClassCache) enter() bool {
	c.busy = 1
	return c.limit.Load() >= 0 && c.n() > 0
}

// n returns the blocks in the loaded magazine.
func (c *ClassCache) n() int32 { return c.state.n() }

// setN sets n, for code that moves magazines. It counts no Get.
func (c *ClassCache) setN(n int32) { c.state = c.state&^loadedMask | state(n) }

// touched changes with each Get and Release that c serves.
func (c *ClassCache) touched() uint32 {
	return 2*uint32(c.state>>loadedBits) + uint32(c.n()+c.nprevious) - uint32(c.moved)
}

// bottom returns the magazine whose blocks are used last.
func (c *ClassCache) bottom() *magazine {
	if c.nprevious > 0 {
		return c.previous
	}
	return c.loaded
}

// cutBottom takes n blocks from the bottom magazine of a closed class cache, whose limit falls by n.
func (c *ClassCache) cutBottom(n int32) *magazine {
	m := c.bottom().cut(n)
	if c.nprevious > 0 {
		c.nprevious -= n
	} else {
		c.setN(c.n() - n)
		c.limit.Add(n) // it is ^limit now
	}
	c.moved -= int64(n)
	return m
}

// unload takes both magazines. It links magazines with blocks to out, the loaded one first: so its
// blocks, which were used last, go back first. With another order recordings would pack differently.
func (c *ClassCache) unload(class int, out *magazine) *magazine {
	c.previous = c.unlink(c.previous, class, c.nprevious, &out)
	c.loaded = c.unlink(c.loaded, class, c.n(), &out)
	c.setN(0)
	c.nprevious = 0
	return out
}

// unlink links a magazine of n blocks to out. It returns the magazine if it is empty.
func (c *ClassCache) unlink(m *magazine, class int, n int32, out **magazine) (empty *magazine) {
	if n == 0 {
		return m
	}
	m.n, m.class, m.next = n, int32(class), *out
	*out = m
	c.moved -= int64(n)
	return nil
}

// invert closes or opens a class cache, if is(limit).
func (c *ClassCache) invert(is func(limit int32) bool) {
	for {
		limit := c.limit.Load()
		if !is(limit) || c.limit.CompareAndSwap(limit, ^limit) {
			return
		}
	}
}

// A moment is a class cache at a moment, as another goroutine sees it: see cpu.moment. Each load is atomic: a plain one
// might come after those that follow it.
type moment struct {
	loaded, previous     *magazine
	state                state
	got, released, moved int64
	nprevious            int32
}

func (c *ClassCache) moment() moment {
	return moment{
		at(&c.loaded), at(&c.previous), state(atomic.LoadUint64((*uint64)(&c.state))),
		atomic.LoadInt64(&c.got), atomic.LoadInt64(&c.released), atomic.LoadInt64(&c.moved),
		atomic.LoadInt32(&c.nprevious),
	}
}

func at(m **magazine) *magazine {
	return (*magazine)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(m))))
}

// served counts the calls since the class cache was armed, and all Releases. All blocks that magazines have not
// brought came by a Release.
func (m *moment) served() Served {
	gets := m.state.gets()
	return Served{
		Hits: gets, Releases: gets + int64(m.state.n()) + int64(m.nprevious) - m.moved,
		Got: m.got, Released: m.released,
	}
}
