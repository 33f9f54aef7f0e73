// Package guard finds uses of buffers after their Release, in one Get of so many.
//
//	guard.go      which Gets are drawn, and the memory of their buffers
//	withheld.go   what is done with it after Release, and when it goes back
//	look.go       what collections tell of it
//	block.go      a block, and what its bytes tell
//
// Such a Get has memory apart from the strategy's: a block of the upstream for itself. So
// the collector can prove that no view of it is left, and its pages can be made inaccessible.
package guard

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// Extent is the number of the blocks of a Guard: no strategy numbers one so.
const Extent int32 = -1

const (
	// mostBytes and mostBlocks bound what is withheld. What is longer than a part of that
	// is not guarded: to fill it would take milliseconds.
	mostBytes  = 64 << 20
	mostBlocks = 1024
	longest    = mostBytes / 4

	// cheap is how many bytes are filled and verified in about the time of all else.
	cheap = 16 << 10

	// turn is how many Gets come down in a turn, see TurnIfDue, and turnDraws of how many draws
	// they stand for at least: so a program that hits all the time pays a few per cent.
	turn, turnDraws = 64, 1024
)

// Options are what a Guard needs to know of its pool.
type Options struct {
	Every  int           // of that many Gets one is drawn; above 0
	Align  int           // of blocks, a power of two
	Linger time.Duration // how long a view may outlive its buffer at least
	Report func(Fault)   // is told of each fault; the caller may hold locks
	Begin  func()        // a turn begins; beginning is held
	End    func()        // it is over; no lock is held
}

// A Guard hands out blocks and looks after them when they come back. It is safe for
// concurrent use. A nil Guard has no turn, no bytes and no blocks.
type Guard struct {
	up upstream.Checked
	o  Options

	credit      atomic.Int64 // Gets that the turn has left
	seen        atomic.Int64 // Gets when the last turn began
	collections atomic.Int64
	beginning   sync.Mutex  // by TryLock, while a turn begins
	off         atomic.Bool // nothing is drawn: the pool holds nothing any more, or the CPU cannot reach the memory

	mu        sync.Mutex // held across the lock of a region of the Go heap
	out       map[device.Block]*block
	withheld  []*block                 // the oldest first
	collected map[device.Region]*block // of withheld, those that the collector watches
	usage     Usage
	stopped   bool
	count     int64
}

// Usage says where the bytes are that a Guard has from its upstream.
type Usage struct {
	ActiveBlocks, ActiveBytes, RoundingBytes int64 // of buffers that are out
	Withheld                                 int64 // bytes after their Release
}

// New returns a Guard that draws on up.
func New(up upstream.Checked, o Options) *Guard {
	return &Guard{up: up, o: o, out: map[device.Block]*block{}, collected: map[device.Region]*block{}}
}

// Alloc returns a block of at least size bytes, if this call is drawn and there is room.
func (g *Guard) Alloc(size int) (b device.Block, ok bool) {
	if size <= 0 || !g.draw(size) {
		return b, false
	}
	b, err := g.up.Alloc(align.Up(size, g.o.Align))
	if err != nil {
		return device.Block{}, false
	}
	x := &block{Block: b, footprint: g.up.Footprint(b), got: Callers()}
	if device.Bytes(b) == nil {
		g.off.Store(true)
		g.giveBack(x)
		return device.Block{}, false
	}
	g.enter(x)
	return b, true
}

// draw reports whether a Get is drawn.
func (g *Guard) draw(size int) bool {
	switch {
	case g.InTurn():
		return g.takeTurn() && g.isWorth(size)
	case g.off.Load():
		return false
	}
	return (g.o.Every == 1 || rand.IntN(g.o.Every) == 0) && g.isWorth(size)
}

// isWorth reports whether a Get that is drawn is guarded. Of what is longer than cheap, as many
// times fewer are as it is longer, so that no program pays for more bytes; but all are if
// every Get is drawn.
func (g *Guard) isWorth(size int) bool {
	return size <= longest && !g.off.Load() && (g.o.Every == 1 || size <= cheap || rand.IntN(size) < cheap)
}

// TurnIfDue begins a turn if it is time for one. A turn is for Gets that caches serve, which no
// Guard sees: between Options.Begin and Options.End the pool's caches serve none. A pool
// calls it after each collection, and says how many Gets there were.
//
// While it begins a turn another collection may come: that one begins none. Else there would
// be two Begins, and one End.
func (g *Guard) TurnIfDue(gets int64) {
	if !g.beginning.TryLock() {
		return
	}
	defer g.beginning.Unlock()
	if g.off.Load() || g.InTurn() || gets-g.seen.Load() < turnDraws*int64(g.o.Every) {
		return
	}
	g.seen.Store(gets)
	g.o.Begin()
	g.credit.Store(turn)
}

// InTurn reports whether a turn has begun and not ended.
func (g *Guard) InTurn() bool { return g != nil && g.credit.Load() > 0 }

// takeTurn reports whether the Get is one of the turn. The last one ends it.
func (g *Guard) takeTurn() bool {
	left := g.credit.Add(-1)
	if left == 0 {
		g.o.End()
	}
	return left >= 0
}

func (g *Guard) enter(k *block) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.out[k.Block] = k
	g.usage.active(k, 1)
}

// take removes from out what Alloc returned as b.
func (g *Guard) take(b device.Block) *block {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.out[b]
	if k == nil {
		panic(upstream.NotOut(b))
	}
	delete(g.out, b)
	g.usage.active(k, -1)
	return k
}

// active counts k as out, or undoes that.
func (u *Usage) active(k *block, n int64) {
	u.ActiveBlocks += n
	u.ActiveBytes += n * int64(k.Len)
	u.RoundingBytes += n * (k.footprint - int64(k.Len))
}

// Usage says where the bytes are.
func (g *Guard) Usage() Usage {
	if g == nil {
		return Usage{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.usage
}

// Count returns how many blocks were withheld.
func (g *Guard) Count() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count
}
