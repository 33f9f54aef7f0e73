package slab

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// An arenaUser gets pieces, fills them, and finds out who else writes to them.
type arenaUser struct {
	t      *testing.T
	a      *Arena
	pieces [][]byte
}

func (u *arenaUser) get(n int) {
	u.t.Helper()
	m, err := u.a.Get(n)
	if err != nil {
		u.t.Fatal(err)
	}
	if m == nil || len(m) != n || cap(m) != n || n > 0 && uintptr(unsafe.Pointer(&m[0]))%16 != 0 {
		u.t.Fatalf("Get(%d): %d bytes, capacity %d, at %p", n, len(m), cap(m), m)
	}
	u.pieces = append(u.pieces, m)
	device.Fill(m, byte(len(u.pieces)))
}

func (u *arenaUser) check() {
	u.t.Helper()
	for i, m := range u.pieces {
		for _, v := range m {
			if v != byte(i+1) {
				u.t.Fatalf("piece %d of %d bytes has %d", i, len(m), v)
			}
		}
	}
}

func (u *arenaUser) reset() {
	u.check()
	u.a.Reset()
	u.pieces = u.pieces[:0]
}

// gets returns the buffers that were got of p so far.
func gets(p *Pool) int64 {
	s := p.Stats()
	return s.Hits + s.Misses
}

// Pieces are aligned and do not overlap, whatever chunks they come from.
func TestArenaPieces(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		u := &arenaUser{t: t, a: NewArena(p)}
		if dev == "virtual" || dev == "sim" {
			_, err := u.a.Get(10)
			_, made := MakeIn[int](u.a, 10)
			if !errors.Is(err, device.ErrUnavailable) || !errors.Is(made, device.ErrUnavailable) {
				t.Errorf("memory that the CPU does not reach: %v, %v", err, made)
			}
			checkNoneOut(t, p)
			return
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			for range r.IntN(300) {
				u.get(r.IntN(1 << r.IntN(18)))
			}
			u.reset()
		}
		u.a.Release()
		checkNoneOut(t, p)
	})
}

// Chunks begin at 8 KiB and double, to 1 MiB.
func TestArenaChunksDouble(t *testing.T) {
	p := openPool(t, "heap", Config{})
	u := &arenaUser{t: t, a: NewArena(p)}
	want := int64(0)
	for _, size := range []int{8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 1 << 20} {
		want += int64(size)
		for range size / 1024 {
			u.get(1024)
			if s := p.Stats(); s.ActiveBytes != want {
				t.Fatalf("%d bytes are out, want %d", s.ActiveBytes, want)
			}
		}
	}
	u.check()
	u.a.Release()
	checkNoneOut(t, p)
}

// Rounds of one size take nothing of the pool once the chunk fits, up to 1 MiB, and use the same memory.
func TestArenaResetKeepsWhatRoundsNeed(t *testing.T) {
	for _, n := range []int{1, 100, 5001, 20_000} {
		p := openPool(t, "heap", Config{})
		u := &arenaUser{t: t, a: NewArena(p)}
		round := func() *byte {
			for range 50 {
				u.get(n)
			}
			first := &u.pieces[0][0]
			u.reset()
			return first
		}
		round()
		first, before := round(), gets(p)
		for range 30 {
			if round() != first {
				t.Fatal("other memory")
			}
		}
		if gets(p) != before {
			t.Errorf("pieces of %d bytes: %d buffers got", n, gets(p)-before)
		}
	}
}

// Reset keeps one chunk. That of an outlier is gone after some rounds, unless they need as much.
func TestArenaResetDropsWhatAnOutlierNeeded(t *testing.T) {
	p := openPool(t, "heap", Config{})
	u := &arenaUser{t: t, a: NewArena(p)}
	for range 10 << 10 {
		u.get(1024)
	}
	if u.reset(); p.Stats().ActiveBytes != mostChunk {
		t.Errorf("%d bytes are kept", p.Stats().ActiveBytes)
	}
	for range 5 {
		u.get(1000)
		u.reset()
	}
	if n := p.Stats().ActiveBytes; n >= mostChunk {
		t.Errorf("%d bytes are kept after 5 rounds", n)
	}
	for range 30 {
		u.get(1000)
		u.reset()
	}
	if n := p.Stats().ActiveBytes; n != leastChunk {
		t.Errorf("%d bytes are kept after 35 rounds", n)
	}
}

// A large piece has a buffer of its own: the chunk stays, and goes on after it.
func TestArenaLargePiece(t *testing.T) {
	p := openPool(t, "heap", Config{})
	u := &arenaUser{t: t, a: NewArena(p)}
	u.get(100)
	u.get(5 << 20)
	u.get(100)
	if s := p.Stats(); s.ActiveBytes != 5<<20+leastChunk || s.ActiveBlocks != 2 {
		t.Errorf("%+v", s)
	}
	if at := uintptr(unsafe.Pointer(&u.pieces[0][0])) - uintptr(unsafe.Pointer(&u.pieces[2][0])); at != 112 {
		t.Errorf("the piece after it lies %d bytes below", at)
	}
	if u.reset(); p.Stats().ActiveBytes != leastChunk {
		t.Errorf("%d bytes are kept", p.Stats().ActiveBytes)
	}
}

// An Arena without a pool that gives answers with errors. Size 0 needs no memory.
func TestArenaWithoutAPool(t *testing.T) {
	for _, a := range []*Arena{nil, {}, NewArena(nil), NewArena(&Pool{})} {
		_, err := a.Get(10)
		_, made := MakeIn[int](a, 10)
		if !errors.Is(err, ErrClosed) || !errors.Is(made, ErrClosed) {
			t.Errorf("%v, %v", err, made)
		}
		a.Reset()
		a.Release()
	}
	p := openPool(t, "heap", Config{})
	a := NewArena(p)
	if m, err := a.Get(0); m == nil || len(m) != 0 || err != nil || gets(p) != 0 {
		t.Errorf("Get(0): %v, %v", m, err)
	}
	p.Close()
	if _, err := a.Get(10); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A Get that fails changes nothing. It fails only where there is no room for the piece alone.
func TestArenaWithoutRoom(t *testing.T) {
	p := openLine(t, "device=heap,max_bytes=64KiB,strategy=direct")
	u := &arenaUser{t: t, a: NewArena(p)}
	for range 64 { // in chunks of 8, 16 and 32 KiB, and what is left one by one
		u.get(1008)
	}
	before := p.Stats()
	_, full := u.a.Get(2000)
	_, negative := u.a.Get(-1)
	_, absurd := u.a.Get(math.MaxInt)
	if !errors.Is(full, device.ErrOutOfMemory) || !errors.Is(negative, ErrSize) || absurd == nil {
		t.Errorf("%v; %v; %v", full, negative, absurd)
	}
	if now := p.Stats(); now.ActiveBytes != before.ActiveBytes {
		t.Errorf("%+v became %+v", before, now)
	}
	u.reset()
	u.get(2000)
	u.check()
}

// After Release an Arena begins anew. Without a Get Release does nothing.
func TestArenaRelease(t *testing.T) {
	p := openPool(t, "heap", Config{})
	u := &arenaUser{t: t, a: NewArena(p)}
	for range 3 {
		u.get(100_000)
		u.get(100)
		u.a.Release()
		checkNoneOut(t, p)
		u.a.Release()
		u.a.Reset()
		u.pieces = nil
	}
	if s := p.Stats(); s.DoubleReleases != 0 {
		t.Errorf("%d double releases", s.DoubleReleases)
	}
}

// Values are cleared, though Reset left others there, and aligned as Make's; so are its refusals.
func TestMakeIn(t *testing.T) {
	p := openPool(t, "heap", Config{})
	a := NewArena(p)
	defer a.Release()
	for range 3 {
		for n := range 50 {
			_, _ = a.Get(n)
			points, err := MakeIn[point](a, n)
			if err != nil || len(points) != n || cap(points) != n || points == nil || uintptr(unsafe.Pointer(unsafe.SliceData(points)))%8 != 0 {
				t.Fatalf("%d values, %v, at %p", len(points), err, points)
			}
			for i := range points {
				if points[i] != (point{}) {
					t.Fatal("not cleared")
				}
				points[i] = point{1, 2, 3}
			}
		}
		a.Reset()
	}
	before := gets(p)
	_, pointers := MakeIn[string](a, 1)
	_, negative := MakeIn[int](a, -1)
	if !errors.Is(pointers, ErrElement) || !errors.Is(negative, ErrSize) || gets(p) != before {
		t.Errorf("%v, %v", pointers, negative)
	}
}

// Config.Zero clears what Get returns, also after Reset.
func TestArenaZeroed(t *testing.T) {
	a := NewArena(openPool(t, "heap", Config{Zero: true}))
	for range 3 {
		for range 40 {
			m, err := a.Get(1000)
			if err != nil || m[0] != 0 || m[999] != 0 {
				t.Fatal("not cleared", err)
			}
			device.Fill(m, 7)
		}
		a.Reset()
	}
}

// Config.Check finds who writes to a piece after Reset.
func TestArenaIsChecked(t *testing.T) {
	p := openPool(t, "mmap", Config{Check: true})
	a := NewArena(p)
	m, _ := a.Get(100)
	if a.Reset(); p.Stats().ActiveBlocks != 0 {
		t.Fatal("a chunk is kept")
	}
	m[5] = 1
	if !doesPanic(func() { _, _ = a.Get(100) }) {
		t.Error("not found")
	}
}

// Rounds in a steady state allocate nothing.
func TestArenaAllocatesNothing(t *testing.T) {
	if raceEnabled || sanitized {
		t.Skip("not as it is in programs")
	}
	a := NewArena(openPool(t, "heap", Config{}))
	if n := testing.AllocsPerRun(100, func() {
		for range 50 {
			m, _ := a.Get(100)
			m[0] = 1
			points, _ := MakeIn[point](a, 3)
			points[0].X = 1
		}
		a.Reset()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
