package slab

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// register gives a strategy a name for the length of a test.
func register(t *testing.T, name string, open strategyFunc) {
	t.Helper()
	Register(name, open)
	t.Cleanup(func() {
		registered.Lock()
		defer registered.Unlock()
		delete(registered.open, name)
	})
}

// A registered strategy works wherever a Config is read, with every key.
func TestRegisteredStrategy(t *testing.T) {
	var got Config
	register(t, "first-fit", func(up Allocator, c Config) Allocator {
		got = c
		s, err := NewStrategy("exact", up, Config{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
	if s := Strategies(); s[len(s)-1] != "first-fit" || s[0] != "direct" {
		t.Error(s)
	}
	for _, text := range []string{
		"device=mmap,strategy=first-fit,steps=8,miss_target=0.5,max_bytes=1MiB",
		`{"device": "mmap", "strategy": "first-fit", "steps": 8, "miss_target": 0.5, "max_bytes": "1MiB"}`,
	} {
		c, err := ParseConfig(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := OpenConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		if got.Steps != 8 || got.MissTarget != 0.5 || got.Align != 16 {
			t.Errorf("opened with %+v", got)
		}
		mustGet(t, p, 1000).Release()
		mustGet(t, p, 1000).Release()
		if b := mustGet(t, p, 1); len(b.Bytes()) != 1 || b.Release() != nil {
			t.Errorf("%d bytes", b.Len())
		}
		if s := p.Stats(); s.Hits != 1 || s.HeldBytes == 0 {
			t.Errorf("%+v", s)
		}
		p.FreeHeld()
		checkNothing(t, p)
		p.Close()
	}
	if _, err := NewStrategy("first-fit", openDevice(t, "heap"), Config{}); err != nil {
		t.Error(err)
	}
	if _, err := ParseConfig("strategy=last-fit"); err == nil || !strings.Contains(err.Error(), "bestfit, slab, first-fit") {
		t.Error(err)
	}
}

// The pool verifies the blocks of a registered strategy.
func TestRegisteredStrategyIsVerified(t *testing.T) {
	register(t, "broken", func(up Allocator, _ Config) Allocator { return short{up} })
	p := openPool(t, "mmap", Config{Strategy: "broken"})
	if _, err := p.Get(100); !errors.Is(err, ErrUpstream) {
		t.Error(err)
	}
	checkNothing(t, p)
}

// short gives a byte less than it was asked for.
type short struct{ Allocator }

func (s short) Alloc(size int) (device.Block, error) { return s.Allocator.Alloc(size - 1) }

// Bytes that the Usage of a registered strategy lacks are rounding.
func TestUsageOfARegisteredStrategyAddsUp(t *testing.T) {
	v := newVerified(lacking{}, 16, func() int64 { return 1000 })
	if u := v.Usage(); u.ActiveBytes != 100 || u.RoundingBytes != 870 || u.ManagedBytes() != 1000 {
		t.Errorf("%+v", u)
	}
}

// A lacking strategy knows of 130 bytes.
type lacking struct{ Allocator }

func (lacking) Usage() Usage { return Usage{ActiveBlocks: 1, ActiveBytes: 100, HeldBytes: 30} }

// With cache_bytes a pool of a registered strategy has caches; without it has none.
func TestRegisteredStrategyWithCaches(t *testing.T) {
	var calls int
	register(t, "plain", func(up Allocator, _ Config) Allocator { return counting{up, &calls} })
	for bytes, want := range map[int64]int{0: 1000, 1 << 20: 1} {
		calls = 0
		p := openPool(t, "mmap", Config{Strategy: "plain", CacheBytes: bytes})
		kept := mustGet(t, p, 1<<20) // caches may hold a sixteenth of what is managed
		for range 1000 {
			mustGet(t, p, 1000).Release()
		}
		if calls--; calls > 100 == (want < 100) {
			t.Errorf("cache_bytes=%d: %d Allocs of 1,000 Gets", bytes, calls)
		}
		kept.Release()
	}
}

type counting struct {
	Allocator
	calls *int
}

func (c counting) Alloc(size int) (device.Block, error) {
	*c.calls++
	return c.Allocator.Alloc(size)
}

// Register panics on misuse, and nothing is registered then.
func TestRegisterMisuse(t *testing.T) {
	open := func(up Allocator, _ Config) Allocator { return up }
	register(t, "taken", open)
	before := Strategies()
	for name, f := range map[string]strategyFunc{"": open, "a,b": open, "a=b": open, "exact": open, "taken": open, "none": nil} {
		if !panics(func() { Register(name, f) }) {
			t.Errorf("Register(%q) did not panic", name)
		}
	}
	if !slices.Equal(Strategies(), before) {
		t.Error(Strategies())
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for r := range rune(0x100) {
		if good := strings.ContainsRune(letters+strings.ToUpper(letters)+"0123456789-_", r); notOfName(r) == good {
			t.Errorf("%q in a name: refused %v", r, good)
		}
	}
	register(t, "nothing", func(Allocator, Config) Allocator { return nil })
	if !panics(func() { _, _ = Open(openDevice(t, "heap"), Config{Strategy: "nothing"}) }) {
		t.Error("a nil strategy did not panic")
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// Classes have bounds, beyond which an argument is a mistake.
func TestGridHasBounds(t *testing.T) {
	for _, good := range [][2]int{{1, 0}, {1 << 10, 1 << 20}} {
		if panics(func() { Grid(good[0], good[1]) }) {
			t.Errorf("Grid(%d, %d) panics", good[0], good[1])
		}
	}
	for bits := -1; bits <= 17; bits++ {
		if bad := bits < 0 || bits == 17; panics(func() { Bitlog(bits) }) != bad {
			t.Errorf("Bitlog(%d): it should panic: %v", bits, bad)
		}
	}
	for _, bad := range [][2]int{{0, 0}, {3, 0}, {1 << 11, 0}, {1, -1}, {1, 3}, {1, 1 << 21}} {
		if !panics(func() { Grid(bad[0], bad[1]) }) {
			t.Errorf("Grid(%d, %d) does not panic", bad[0], bad[1])
		}
	}
}

// A registered strategy that panics as it is opened leaves no device open, and no file taken.
func TestAStrategyThatPanicsAtOpenLeavesNothing(t *testing.T) {
	refuses := true
	register(t, "refusing", func(upstream Allocator, _ Config) Allocator {
		if refuses {
			panic("no")
		}
		return upstream
	})
	opensPanicky = &panicky{Device: openDevice(t, "heap")}
	c := Config{Device: "panicky", Strategy: "refusing", Record: filepath.Join(t.TempDir(), "x.csv")}
	if !panics(func() { _, _ = OpenConfig(c) }) {
		t.Error("no panic")
	}
	if !opensPanicky.closed {
		t.Error("the device is open")
	}
	refuses, opensPanicky = false, &panicky{Device: openDevice(t, "heap")}
	p, err := OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
