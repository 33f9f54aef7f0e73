package slab

import (
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// holdingPool opens a pool that holds so many blocks of 1 MiB, with something cached, too.
func holdingPool(t *testing.T, c Config, dev string, blocks int) *Pool {
	t.Helper()
	p := openPool(t, dev, c)
	var out []PooledBuffer
	for range blocks {
		out = append(out, mustGet(t, p, 1<<20))
	}
	out = append(out, mustGet(t, p, 2000))
	releaseAll(t, out)
	return p
}

// A step gives back about what it is asked for, of each strategy, and empties the caches.
func TestGiveBackAPart(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := holdingPool(t, c, dev, 16)
		before := p.Stats()
		if before.HeldBytes == 0 {
			return // direct
		}
		n := pressed{p.pool}.GiveBack(before.HeldBytes/2, false, "a test")
		after := p.Stats()
		if n < before.HeldBytes/3 || n != before.ManagedBytes-after.ManagedBytes {
			t.Errorf("%d bytes of %d, %d managed before and %d after", n, before.HeldBytes, before.ManagedBytes, after.ManagedBytes)
		}
		if most := before.HeldBytes/2 + 2<<20; n > most && ranged(dev, p) {
			t.Errorf("%d bytes of %d: more than a block too many", n, before.HeldBytes)
		}
		if u := p.pool.cache.Usage(); u.Blocks != 0 {
			t.Errorf("%d blocks are cached", u.Blocks)
		}
		if after.PressureSteps != 1 || after.PressureBytes != n {
			t.Errorf("%+v", after)
		}
		pressed{p.pool}.GiveBack(math.MaxInt64, true, "a test")
		if s := p.Stats(); s.ManagedBytes != 0 {
			t.Errorf("%d bytes are left", s.ManagedBytes)
		}
		check.Must(t, p.Close())
	})
}

// ranged reports whether a pool gives back any pages, and not only whole regions.
func ranged(dev string, p *Pool) bool {
	s := p.pool.config.Strategy
	return s == "exact" || s == "bitlog" || (dev == "mmap" || dev == "virtual") && (s == "bestfit" || s == "slab")
}

// What was held longest goes first: the blocks of the first kind are gone, those of the second are there.
func TestGiveBackTheOldest(t *testing.T) {
	for _, s := range []string{"exact", "bestfit", "slab"} {
		p := openPool(t, "mmap", Config{Strategy: s, Idle: -1}) // no clock ends epochs
		a, keep, b := mustGet(t, p, 1<<20), mustGet(t, p, 4096), mustGet(t, p, 2<<20)
		mustRelease(t, a)
		pressed{p.pool}.Age()
		mustRelease(t, b)
		pressed{p.pool}.GiveBack(1<<20-8192, false, "a test")
		left := p.Stats()
		if left.HeldBytes < 2<<20 || left.HeldBytes > 2<<20+64<<10 {
			t.Errorf("%s: %d bytes are held", s, left.HeldBytes)
		}
		mustRelease(t, mustGet(t, p, 2<<20))
		if n := p.Stats().ManagedBytes; n != left.ManagedBytes {
			t.Errorf("%s: a block of the younger kind took %d bytes more", s, n-left.ManagedBytes)
		}
		mustRelease(t, keep)
		check.Must(t, p.Close())
	}
}

// The keepers of a pool's buffers are asked in the end, and not before.
func TestKeepersAreAskedInTheEnd(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	k := &oneKeeper{b: mustGet(t, p, 1<<20)}
	p.AddReclaimer(k)
	defer p.RemoveReclaimer(k)
	pressed{p.pool}.GiveBack(1<<20, false, "a test")
	if k.released {
		t.Error("a keeper was asked too early")
	}
	pressed{p.pool}.GiveBack(1<<20, true, "a test")
	if !k.released || p.Stats().ManagedBytes != 0 {
		t.Errorf("%v, %d bytes are left", k.released, p.Stats().ManagedBytes)
	}
}

// A step counts where something went back, and what only keepers had goes back in it, too.
func TestAStepCountsIfSomethingWentBack(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "direct"}) // which holds nothing: a Release goes upstream
	k := &oneKeeper{b: mustGet(t, p, 1<<20)}
	p.AddReclaimer(k)
	defer p.RemoveReclaimer(k)
	if n := (pressed{p.pool}).GiveBack(1<<20, false, "a test"); n != 0 || p.Stats().PressureSteps != 0 {
		t.Errorf("%d bytes, %d steps where nothing could go back", n, p.Stats().PressureSteps)
	}
	if n := (pressed{p.pool}).GiveBack(1<<20, true, "a test"); n < 1<<20 || p.Stats().PressureSteps != 1 || p.Stats().PressureBytes != n {
		t.Errorf("%d bytes of a keeper, %+v", n, p.Stats())
	}
	if n := (pressed{p.pool}).GiveBack(1<<20, true, "a test"); n != 0 || p.Stats().PressureSteps != 1 {
		t.Errorf("%d bytes, %d steps afterwards", n, p.Stats().PressureSteps)
	}
	before := p.Stats().PressureBytes
	p.pool.relieved(1, "a test")
	if s := p.Stats(); s.PressureSteps != 2 || s.PressureBytes != before+1 {
		t.Errorf("a byte does not count: %+v", s)
	}
	check.Must(t, p.Close())
}

// The watcher does not wait for a pool that waits for a stream.
func TestTheWatcherDoesNotWait(t *testing.T) {
	p := holdingPool(t, Config{}, "mmap", 4)
	p.pool.reclaimMu.Lock() // as StopHolding does meanwhile
	pressed{p.pool}.Age()
	n := pressed{p.pool}.GiveBack(1<<20, false, "a test")
	p.pool.reclaimMu.Unlock()
	if n != 0 || p.Stats().HeldBytes < 4<<20 {
		t.Errorf("%d bytes, %d are held", n, p.Stats().HeldBytes)
	}
	check.Must(t, p.Close())
}

type oneKeeper struct {
	b        PooledBuffer
	released bool
}

func (k *oneKeeper) FreeHeld() { k.released = k.b.Release() == nil || k.released }

// A pool with pressure=on gives back as the process runs short, says so, and ends the watcher. A hook
// may use the pool.
func TestPressure(t *testing.T) {
	type step struct {
		pool, why string
		bytes     int64
	}
	steps := make(chan step, 64)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	p, err := OpenConfig(Config{Device: "mmap", Name: "short", Pressure: true, Hooks: &Hooks{Pressure: func(pool string, bytes int64, why string) {
		steps <- step{pool, why, bytes}
	}}})
	check.Must(t, err)
	idle := openPool(t, "mmap", Config{})
	mustRelease(t, mustGet(t, idle, 8<<20))
	debug.SetMemoryLimit(1) // a group that is short takes root
	s := heldUntil(t, p, steps)
	debug.SetMemoryLimit(math.MaxInt64)
	if s.pool != "short" || s.bytes < 16<<20 || !strings.Contains(s.why, "memory limit") {
		t.Errorf("%+v", s)
	}
	if st := p.Stats(); st.PressureSteps < 1 || st.PressureBytes < s.bytes {
		t.Errorf("%+v", st)
	}
	if st := idle.Stats(); st.HeldBytes < 8<<20 || st.PressureSteps != 0 {
		t.Errorf("a pool that did not ask for it gave back: %+v", st)
	}
	check.Must(t, p.Close())
}

// A hook may close the pool that it hears of, also the last one.
func TestPressureHookMayClose(t *testing.T) {
	done := make(chan error, 1)
	var p *Pool
	p, err := OpenConfig(Config{Device: "mmap", Pressure: true, Hooks: &Hooks{Pressure: func(string, int64, string) { done <- p.Close() }}})
	check.Must(t, err)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1))
	var leak *LeakError // heldUntil may have a buffer out
	if err := heldUntil(t, p, done); err != nil && !errors.As(err, &leak) {
		t.Error(err)
	}
}

// heldUntil has p hold memory until something comes from c. A step that began before the memory came counts nothing, and
// may give it back.
func heldUntil[T any](t *testing.T, p *Pool, c <-chan T) (v T) {
	t.Helper()
	eventually(t, "a step of pressure", func() bool {
		if p.Stats().HeldBytes == 0 {
			if b, err := p.Get(64 << 20); err == nil { // else the hook has closed p
				mustRelease(t, b)
			}
		}
		select {
		case v = <-c:
			return true
		default:
			return false
		}
	})
	return v
}

// The line says on or off, and a strategy that keeps nothing has no use for it.
func TestPressureConfig(t *testing.T) {
	c, err := ParseConfig("pressure=on")
	if !c.Pressure || err != nil || c.String() != "pressure=on" {
		t.Error(c, err)
	}
	if c, err := ParseConfig("pressure=off"); c.Pressure || err != nil {
		t.Error(c, err)
	}
	for _, line := range []string{"pressure=yes", "pressure=", "strategy=direct,pressure=on"} {
		if _, err := ParseConfig(line); err == nil {
			t.Error(line)
		}
	}
}
