package fuzz_test

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// An arenaModel is an Arena and what its pieces have to hold. Pieces that overlapped would
// hold what was written last.
type arenaModel struct {
	pool   *slab.Pool
	a      *arena.Arena
	pieces []piece
	tight  bool // Gets may fail
	zeroed bool // Get clears
	align  uintptr
}

type piece struct{ has, want []byte }

// check is run after each step.
func (m *arenaModel) check(t *rapid.T) {
	for i, p := range m.pieces {
		if !bytes.Equal(p.has, p.want) {
			t.Fatalf("piece %d of %d bytes has changed", i, len(p.want))
		}
	}
}

// got judges a piece of n bytes, and fills it.
func (m *arenaModel) got(t *rapid.T, n int, p []byte, zeroed bool, err error) {
	if err != nil {
		if !m.tight || !errors.Is(err, device.ErrOutOfMemory) {
			t.Fatal(err)
		}
		return
	}
	if p == nil || len(p) != n || cap(p) != n || n > 0 && uintptr(unsafe.Pointer(&p[0]))%m.align != 0 {
		t.Fatalf("%d bytes of capacity %d at %p, want %d", len(p), cap(p), p, n)
	}
	if zeroed && bytes.ContainsFunc(p, func(r rune) bool { return r != 0 }) {
		t.Fatal("not cleared")
	}
	want := draw.Bytes(t, n)
	copy(p, want)
	m.pieces = append(m.pieces, piece{p, want})
}

func (m *arenaModel) get(t *rapid.T) {
	n := draw.Size(t)
	p, err := m.a.Get(n)
	m.got(t, n, p, m.zeroed, err)
}

// small gets many pieces of one size.
func (m *arenaModel) small(t *rapid.T) {
	n := rapid.IntRange(0, 300).Draw(t, "size")
	for range rapid.IntRange(1, 50).Draw(t, "pieces") {
		p, err := m.a.Get(n)
		m.got(t, n, p, m.zeroed, err)
	}
}

func (m *arenaModel) make(t *rapid.T) {
	type pair struct {
		a uint64
		b uint16
	}
	const size = int(unsafe.Sizeof(pair{}))
	n := rapid.IntRange(0, 3000).Draw(t, "n")
	list, err := arena.Make[pair](m.a, n)
	if err == nil && (list == nil || len(list) != n || cap(list) != n) {
		t.Fatalf("%d values of capacity %d, want %d", len(list), cap(list), n)
	}
	m.got(t, n*size, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*size), true, err)
}

func (m *arenaModel) refuse(t *rapid.T) {
	if _, err := m.a.Get(draw.Negative(t)); !errors.Is(err, slab.ErrSize) {
		t.Fatal(err)
	}
	if _, err := m.a.Get(rapid.SampledFrom(draw.Absurd).Draw(t, "absurd")); err == nil {
		t.Fatal("an absurd Get")
	}
}

// reset leaves one chunk of 1 MiB at most.
func (m *arenaModel) reset(t *rapid.T) {
	m.a.Reset()
	m.pieces = nil
	if s := m.pool.Stats(); s.ActiveBlocks > 1 || s.ActiveBytes > 1<<20 {
		t.Fatalf("%+v", s)
	}
}

func (m *arenaModel) release(t *rapid.T) {
	m.a.Release()
	m.pieces = nil
	if s := m.pool.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 0 {
		t.Fatalf("%+v", s)
	}
}

// arenaProperty is that an Arena of a pool by c hands out memory of its own.
func arenaProperty(c slab.Config) func(*rapid.T) {
	c.GCTrigger = -1
	return func(t *rapid.T) {
		p, err := slab.OpenConfig(c)
		model.OK(t, err)
		defer p.Close()
		m := &arenaModel{pool: p, a: arena.New(p), tight: c.MaxBytes > 0, zeroed: c.Zero, align: 16}
		if 0 < c.Align && c.Align < 16 {
			m.align = uintptr(c.Align)
		}
		model.Repeat(t, map[string]func(*rapid.T){
			"": m.check, "Get": m.get, "Small": m.small, "Make": m.make, "Refuse": m.refuse, "Reset": m.reset, "Release": m.release,
		})
		m.release(t)
	}
}

func TestArenas(t *testing.T) {
	for name, c := range map[string]slab.Config{
		"heap": {}, "mmap": {Device: "mmap"}, "bitlog": {Strategy: "bitlog"}, "zero": {Zero: true},
		"check": {Device: "mmap", Check: true}, "tight": {MaxBytes: 96 << 10}, "align": {Device: "mmap", Strategy: "bestfit", Align: 8},
		"tight sim": {Device: "sim:pinned", Strategy: "direct", MaxBytes: 64 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model.Check(t, arenaProperty(c))
		})
	}
}

// FuzzArena lets the fuzzer choose the program.
func FuzzArena(f *testing.F) { f.Fuzz(rapid.MakeFuzz(arenaProperty(slab.Config{}))) }
