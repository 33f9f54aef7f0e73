package slab

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/internal/pin"
)

func needBias(t *testing.T) {
	t.Helper()
	if !biasing || !pin.HasBarrier() {
		t.Skip("magazines have no bias in this build or on this system")
	}
}

// cached returns a buffer that comes from a magazine.
func cached(t *testing.T, p *Pool, size int) PooledBuffer {
	t.Helper()
	for range 100 { // the goroutine may move in between
		mustGet(t, p, size).Release()
		b := mustGet(t, p, size)
		if b.own.marked() != 0 {
			return b
		}
		b.Release()
	}
	t.Fatal("no slot is ever marked")
	panic("unreachable")
}

// Whoever needs the word of a marked slot takes the bias first; the
// magazine marks no more slots then, and all Releases still count.
func TestAMarkedSlotIsSharedBeforeItsWordChanges(t *testing.T) {
	needBias(t)
	for name, use := range map[string]func(PooledBuffer) error{
		"With":    func(b PooledBuffer) error { return b.With(func([]byte) {}) },
		"Release": PooledBuffer.releaseSlowly, // as by another processor
	} {
		p := openPool(t, "heap", Config{})
		b := cached(t, p, 1000)
		bias := b.own.bias
		if err := use(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b.own.bias != 0 {
			t.Errorf("%s: still marked", name)
		}
		for i := range p.c.cache.mags {
			if p.c.cache.mags[i].bias.Load() == bias {
				t.Errorf("%s: a magazine still has the bias", name)
			}
		}
		first, second := b.Release(), b.Release()
		if want := name == "With"; (first == nil) != want || second != ErrReleased {
			t.Errorf("%s: then %v, %v", name, first, second)
		}
		checkQuiet(t, p)
		if s := p.Stats(); s.ActiveBlocks != 0 || s.ActiveBytes != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Who holds an old handle changes nothing for the slot's next owner.
func TestAnOldHandleTakesNoMarkOfItsSuccessor(t *testing.T) {
	needBias(t)
	p := openPool(t, "heap", Config{})
	old := cached(t, p, 1000)
	old.Release()
	b := cached(t, p, 1000)
	for b.own != old.own {
		b = cached(t, p, 1000)
	}
	if err := errors.Join(old.Release(), old.With(nil)); !errors.Is(err, ErrReleased) || b.own.bias == 0 {
		t.Errorf("%v, and the mark is %d", err, b.own.bias)
	}
	if err := b.Release(); err != nil {
		t.Error(err)
	}
	if err := b.Release(); err != ErrReleased {
		t.Error(err)
	}
}

// A magazine gets another bias after so many hits, at a miss of its own or a
// collection, and has to make twice as many the next time.
func TestBiasReturns(t *testing.T) {
	needBias(t)
	k := &openPool(t, "heap", Config{}).c.cache
	m := &k.mags[0]
	seen := map[uint32]bool{0: true}
	for want := uint64(rebiasAfter); want <= rebiasAfter<<8; want *= 2 {
		if seen[m.bias.Load()] {
			t.Fatalf("bias %d again", m.bias.Load())
		}
		seen[m.bias.Load()] = true
		k.revoke(&slot{bias: m.bias.Load()})
		m.state += (want - 1) * oneHit
		if k.rebiasAll(); m.bias.Load() != 0 {
			t.Errorf("after less than %d hits", want)
		}
		m.state += oneHit
		if k.rebiasAll(); m.bias.Load() == 0 {
			t.Errorf("not after %d hits", want)
		}
	}
}

// Of two Releases at the same time, on the processor of the Get and on another
// one, exactly one wins. Without settle this fails.
func TestOneReleaseWinsBesideAnother(t *testing.T) {
	p := openPool(t, "heap", Config{})
	rounds := int64(100_000)
	if testing.Short() || raceEnabled {
		rounds = 10_000
	}
	var both [16]PooledBuffer
	var turn, done, won atomic.Int64
	var wg sync.WaitGroup
	release := func() {
		for i := range both {
			if both[i].Release() == nil {
				won.Add(1)
			}
		}
	}
	wg.Go(func() {
		for i := range rounds {
			await(&turn, i+1)
			release()
			done.Store(i + 1)
		}
	})
	for i := range rounds {
		for j := range both {
			both[j] = mustGet(t, p, 1000)
		}
		turn.Store(i + 1)
		release()
		await(&done, i+1)
		if n := won.Swap(0); n != int64(len(both)) {
			t.Fatalf("round %d: %d Releases won for %d buffers", i, n, len(both))
		}
		for j := 0; biasing && j < len(p.c.cache.mags); j++ {
			m := &p.c.cache.mags[j]
			m.due, m.taken = m.hits(), 0
		}
		p.c.cache.rebiasAll()
	}
	wg.Wait()
	checkQuiet(t, p)
	if s := p.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != rounds*int64(len(both)) {
		t.Errorf("%+v", s)
	}
}

// await spins, so that both sides go on at once, but for an only processor.
func await(v *atomic.Int64, want int64) {
	for i := 1; v.Load() != want; i++ {
		if i%1000 == 0 {
			runtime.Gosched()
		}
	}
}

// A block that a magazine lends for less is marked, too; one that comes from
// elsewhere is not.
func TestWhatMagazinesLendIsMarked(t *testing.T) {
	needBias(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := openPool(t, "heap", Config{})
	k := &p.c.cache
	class := k.grid.index(1 << 20)
	first := mustGet(t, p, 1<<20)
	if first.own.bias != 0 {
		t.Error("a fresh block is marked")
	}
	first.Release()
	lent := mustGet(t, p, 900_000)
	if lent.own != first.own || lent.own.bias == 0 || lent.own.bias != k.magazine(0, class).bias.Load() {
		t.Errorf("the mark of what was lent is %d", lent.own.bias)
	}
	lent.Release()
	k.shutting.Lock()
	e, ok := k.robShard(&k.shards[0], class)
	k.shutting.Unlock()
	if !ok || e.s != first.own || e.s.bias != 0 {
		t.Errorf("%v, and the mark of what was robbed is %d", ok, e.s.bias)
	}
	k.countGet(1 << 20)
	b, _ := p.c.hand(e, 1<<20)
	b.Release()
	mustGet(t, p, 1<<20).Release() // marks it again
	p.c.emptyCaches()
	if b = mustGet(t, p, 1<<20); b.own != first.own || b.own.bias != 0 {
		t.Errorf("the mark of what comes from the strategy is %d", b.own.bias)
	}
	b.Release()
	checkQuiet(t, p)
}
