package slab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

var errBoom = errors.New("boom")

// A bomb is an upstream whose n-th call from now panics, whichever it is, before it
// does anything.
type bomb struct {
	*pages
	segments bool // there are no ranges
	in       int
}

func (b *bomb) tick() {
	if b.in--; b.in == 0 {
		panic(errBoom)
	}
}

func (b *bomb) Alloc(n int) (device.Block, error) { b.tick(); return b.pages.Alloc(n) }
func (b *bomb) Free(x device.Block)               { b.tick(); b.pages.Free(x) }

func (b *bomb) Reserve(n int) (device.Range, error) {
	if b.segments {
		return nil, device.ErrUnavailable
	}
	b.tick()
	r, err := b.pages.Reserve(n)
	return bombRange{r, b}, err
}

type bombRange struct {
	device.Range
	b *bomb
}

func (r bombRange) Commit(off, n int) error   { r.b.tick(); return r.Range.Commit(off, n) }
func (r bombRange) Decommit(off, n int) error { r.b.tick(); return r.Range.Decommit(off, n) }
func (r bombRange) Close() error              { r.b.tick(); return r.Range.Close() }

// booms runs f and reports whether it panicked as the bomb does.
func booms(f func()) (did bool) {
	defer func() {
		r := recover()
		if did = r == errBoom; r != nil && !did {
			panic(r)
		}
	}()
	f()
	return false
}

// A panic of any call of the upstream, Alloc, Free, Reserve, Commit, Decommit or Close,
// passes through bestfit and slab: no lock is held then, the counters are right, and the
// next call works. What could not be given back is held.
func TestAPanicOfAnyUpstreamCallPassesThroughHeaps(t *testing.T) {
	for _, name := range []string{"bestfit", "slab"} {
		for _, segments := range []bool{false, true} {
			for _, c := range []Config{{}, {MaxHeld: -1}, {MaxHeld: 20_000}} {
				t.Run(fmt.Sprint(name, ",segments=", segments, ",", c), func(t *testing.T) {
					for at := 1; panicking(t, name, segments, c, at); at++ {
					}
				})
			}
		}
	}
}

// panicking runs a program whose at-th call upstream panics, and reports whether there
// were as many.
func panicking(t *testing.T, name string, segments bool, c Config, at int) (did bool) {
	t.Helper()
	up := &bomb{pages: &pages{RangeBytes: 64 * page}, segments: segments, in: at}
	s := holderOn(name, up, c)
	r := rand.New(rand.NewPCG(1, 2))
	var live []device.Block
	bytes := int64(0)
	check := func(step string) {
		t.Helper()
		if u := s.Usage(); u.ActiveBlocks != int64(len(live)) || u.ActiveBytes != bytes || u.ManagedBytes() != up.Bytes ||
			u.HeldBytes < 0 || u.RoundingBytes < 0 {
			t.Fatalf("call %d panicked in %s: %+v, but %d bytes in %d blocks are out and %d upstream", at, step, u, bytes, len(live), up.Bytes)
		}
	}
	step := func(what string, f func()) (panicked bool) {
		t.Helper()
		panicked = booms(f)
		did = did || panicked
		return panicked
	}
	alloc := func(n int) {
		t.Helper()
		get := func() {
			b, err := s.Alloc(n)
			if err != nil {
				t.Fatal(err)
			}
			live, bytes = append(live, b), bytes+int64(n)
		}
		if step("Alloc", get) {
			check("Alloc")
			get()
		}
		check("the Alloc after")
	}
	free := func(b device.Block) {
		t.Helper()
		bytes -= int64(b.Len)
		step("Free", func() { s.Free(b) })
		check("Free")
	}
	for range 24 {
		alloc(1 + r.IntN(3*page))
	}
	for range 12 {
		free(takeAt(&live, r.IntN(len(live))))
	}
	step("FreeHeld", s.FreeHeld)
	check("FreeHeld")
	for range 12 {
		alloc(1 + r.IntN(50*page))
	}
	step("Trim", func() { s.Trim(0) })
	check("Trim")
	for len(live) > 0 {
		free(takeAt(&live, r.IntN(len(live))))
	}
	step("StopHolding", s.StopHolding)
	check("StopHolding")
	if s.FreeHeld(); up.Bytes != 0 || up.Open != 0 {
		t.Fatalf("call %d panicked: %d bytes in %d ranges are left", at, up.Bytes, up.Open)
	}
	return did
}

// An Alloc that panics is none that the program has grown by.
func TestAPanickingAllocIsNotGrowth(t *testing.T) {
	eachOn([]string{"bestfit", "slab"}, func(name string, ranges bool) {
		up := &bomb{pages: &pages{RangeBytes: 1 << 30}, segments: !ranges}
		s := strategyOn(name, up, Config{})
		for range 100 {
			up.in = 1
			if !booms(func() { s.Alloc(100 << 20) }) {
				t.Fatal("no panic")
			}
		}
		mustAlloc(t, s, 100)
		if up.Bytes > 64<<10 {
			t.Errorf("%s: %d bytes for a block of 100", name, up.Bytes)
		}
	})
}
