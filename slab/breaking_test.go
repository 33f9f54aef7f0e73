package slab

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/poison"
)

// told is what a breaking upstream panics with.
const told = "told to"

// A breaking upstream panics in call number at, whatever the call is.
type breaking struct {
	*pages
	nth, at int
}

func breakAt(at int, p *pages) *breaking {
	b := &breaking{pages: p, at: at}
	p.Before = func(string) error {
		if b.nth++; b.nth == b.at {
			panic(told)
		}
		return nil
	}
	return b
}

// A breakable is what breakEach runs on.
type breakable struct {
	Alloc  func(size int) (m []byte, free func(), err error)
	Usage  func() (active, managed, least int64) // bytes; least of the other figures
	Back   func()                                // gives back what is held
	Stop   func()                                // StopHolding
	Passes bool                                  // it does not know what is out: a block whose Free panics is out as before
	More   func() int64                          // another count of the bytes that are upstream, or nil
}

// breakEach runs a random program of the given number of steps with a panic in call n of the upstream, for every n,
// be it Alloc, Free, Reserve, Commit, Decommit or Close: the panic passes through, the counters add up
// to what is upstream, and all later calls work.
func breakEach(t *testing.T, steps int, open func(up *breaking) breakable) {
	for at, fired := 1, true; fired; at++ {
		up := breakAt(at, &pages{Source: source{Host: true, Capacity: 120_000}})
		b := &breaker{t: t, s: open(up), up: up, rand: rand.New(rand.NewPCG(2, 2))}
		for range steps {
			b.step()
		}
		b.end()
		if fired = b.fired; t.Failed() {
			t.Fatalf("with a panic in call %d", at)
		}
	}
}

// A breaker is a random program that recovers from the panics of its upstream.
type breaker struct {
	t     *testing.T
	s     breakable
	up    *breaking
	rand  *rand.Rand
	live  []taken
	bytes int64
	fired bool
}

// A taken block is filled with the last byte of its length.
type taken struct {
	m    []byte
	size int
	free func()
}

// try runs f and reports whether the upstream panicked.
func (b *breaker) try(f func()) (panicked bool) {
	defer func() {
		if r := recover(); r == told {
			panicked, b.fired = true, true
		} else if r != nil {
			panic(r)
		}
	}()
	f()
	return false
}

func (b *breaker) step() {
	b.t.Helper()
	switch n := len(b.live); {
	case b.rand.IntN(10) == 0:
		b.try(b.s.Back)
	case n > 0 && b.rand.IntN(2) == 0:
		b.free(b.rand.IntN(n))
	default:
		b.alloc([]int{100, 2000, 20_000, 50_000}[b.rand.IntN(4)])
	}
	b.check()
}

func (b *breaker) alloc(size int) {
	b.try(func() {
		m, free, err := b.s.Alloc(size)
		if errors.Is(err, device.ErrOutOfMemory) {
			return
		}
		if err != nil {
			b.t.Fatal(err)
		}
		device.Fill(m, byte(size))
		b.live = append(b.live, taken{m, size, free})
		b.bytes += int64(size)
	})
}

func (b *breaker) free(i int) {
	x, last := b.live[i], len(b.live)-1
	b.live[i], b.live = b.live[last], b.live[:last]
	if poison.Unlike(x.m, byte(x.size)) >= 0 {
		b.t.Fatalf("somebody wrote to a block of %d bytes", x.size)
	}
	if b.try(x.free) && b.s.Passes {
		b.check()
		x.free()
	}
	b.bytes -= int64(x.size)
}

func (b *breaker) check() {
	b.t.Helper()
	active, managed, least := b.s.Usage()
	if active != b.bytes || managed != b.up.Bytes || least < 0 {
		b.t.Fatalf("%d bytes active, %d managed, a figure of %d; but %d bytes are out and %d upstream", active, managed, least, b.bytes, b.up.Bytes)
	}
	if b.s.More != nil && b.s.More() != b.up.Bytes {
		b.t.Fatalf("%d bytes are counted, %d upstream", b.s.More(), b.up.Bytes)
	}
}

func (b *breaker) end() {
	b.t.Helper()
	for len(b.live) > 0 {
		b.free(0)
		b.check()
	}
	if b.try(b.s.Stop) {
		b.s.Stop()
	}
	if b.check(); b.up.Out() != 0 || b.up.Open != 0 {
		b.t.Fatalf("%d blocks and %d ranges left", b.up.Out(), b.up.Open)
	}
}
