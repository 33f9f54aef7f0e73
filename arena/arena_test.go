package arena

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
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

// Pieces are aligned and do not overlap, whatever chunks they come from.
func TestArenaPieces(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c slab.Config) {
		p := openPool(t, dev, c)
		u := &arenaUser{t: t, a: New(p)}
		if dev == "virtual" || dev == "sim" {
			_, err := u.a.Get(10)
			_, made := Make[int](u.a, 10)
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
	p := openPool(t, "heap", slab.Config{})
	u := &arenaUser{t: t, a: New(p)}
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
		p := openPool(t, "heap", slab.Config{})
		u := &arenaUser{t: t, a: New(p)}
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
	p := openPool(t, "heap", slab.Config{})
	u := &arenaUser{t: t, a: New(p)}
	for range 10 << 10 {
		u.get(1024)
	}
	if u.reset(); p.Stats().ActiveBytes != mostChunk {
		t.Errorf("%d bytes are kept", p.Stats().ActiveBytes)
	}
	for range 4 {
		u.get(1000)
		u.reset()
	}
	if n := p.Stats().ActiveBytes; n != mostChunk {
		t.Errorf("%d bytes are kept after 4 rounds", n)
	}
	u.get(1000)
	if u.reset(); p.Stats().ActiveBytes >= mostChunk {
		t.Errorf("%d bytes are kept after 5 rounds", p.Stats().ActiveBytes)
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
	p := openPool(t, "heap", slab.Config{})
	u := &arenaUser{t: t, a: New(p)}
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
	for _, a := range []*Arena{nil, {}, New(nil), New(new(slab.Pool))} {
		_, err := a.Get(10)
		_, made := Make[int](a, 10)
		if !errors.Is(err, slab.ErrClosed) || !errors.Is(made, slab.ErrClosed) {
			t.Errorf("%v, %v", err, made)
		}
		a.Reset()
		a.Release()
	}
	p := openPool(t, "heap", slab.Config{})
	a := New(p)
	if m, err := a.Get(0); m == nil || len(m) != 0 || err != nil || gets(p) != 0 {
		t.Errorf("Get(0): %v, %v", m, err)
	}
	p.Close()
	if _, err := a.Get(10); !errors.Is(err, slab.ErrClosed) {
		t.Error(err)
	}
}

// A Get that fails changes nothing. It fails only where there is no room for 8 KiB, or for a large piece alone.
func TestArenaWithoutRoom(t *testing.T) {
	p := openLine(t, "device=heap,max_bytes=64KiB,strategy=direct")
	u := &arenaUser{t: t, a: New(p)}
	for range 64 { // in chunks of 8, 16, 32 and again 8 KiB
		u.get(1008)
	}
	before := p.Stats()
	_, full := u.a.Get(2000)
	_, negative := u.a.Get(-1)
	_, absurd := u.a.Get(math.MaxInt)
	if !errors.Is(full, device.ErrOutOfMemory) || !errors.Is(negative, slab.ErrSize) || absurd == nil {
		t.Errorf("%v; %v; %v", full, negative, absurd)
	}
	if now := p.Stats(); now.ActiveBytes != before.ActiveBytes {
		t.Errorf("%+v became %+v", before, now)
	}
	u.reset()
	u.get(2000)
	u.check()
}

// Beside a budget that is nearly used up an Arena takes smaller chunks, and then fails: it does not take a buffer
// for each piece. It has then used the budget but for 8 KiB, and pieces that it had are as they were.
func TestArenaBesideAFullBudget(t *testing.T) {
	for _, line := range []string{"device=heap,max_bytes=8MiB", "device=mmap,max_bytes=8MiB"} {
		p := openLine(t, line)
		out := check.Ok(p.Get(4 << 20))(t)
		before := p.Stats()
		u, n := &arenaUser{t: t, a: New(p)}, 0
		for ; ; n++ {
			m, err := u.a.Get(100)
			if errors.Is(err, device.ErrOutOfMemory) {
				break
			}
			check.Must(t, err)
			m[0], m[99] = byte(n), byte(n>>8)
			u.pieces = append(u.pieces, m)
		}
		now := p.Stats()
		if taken, failed := gets(p)-1, now.Failed-before.Failed; taken > 40 || failed > 40 {
			t.Errorf("%s: %d pieces by %d Gets, and %d that failed", line, n, taken, failed)
		}
		if free := now.MaxBytes - now.ActiveBytes; free >= 8<<10+4<<10 {
			t.Errorf("%s: %d bytes are free", line, free)
		}
		for i, m := range u.pieces {
			if m[0] != byte(i) || m[99] != byte(i>>8) {
				t.Fatalf("%s: piece %d has changed", line, i)
			}
		}
		u.a.Release()
		check.Must(t, out.Release())
		p.Close()
	}
}

// After Release an Arena begins anew. Without a Get Release does nothing.
func TestArenaRelease(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	u := &arenaUser{t: t, a: New(p)}
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
func TestMake(t *testing.T) {
	p := openPool(t, "heap", slab.Config{})
	a := New(p)
	defer a.Release()
	for range 3 {
		for n := range 50 {
			_, _ = a.Get(n)
			points, err := Make[point](a, n)
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
	_, pointers := Make[string](a, 1)
	_, negative := Make[int](a, -1)
	if !errors.Is(pointers, slab.ErrElement) || !errors.Is(negative, slab.ErrSize) || gets(p) != before {
		t.Errorf("%v, %v", pointers, negative)
	}
}

// Config.Zero clears what Get returns, also after Reset.
func TestArenaZeroed(t *testing.T) {
	a := New(openPool(t, "heap", slab.Config{Zero: true}))
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
	p := openPool(t, "mmap", slab.Config{Check: true})
	a := New(p)
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
		t.Skip("The race detector and asan instrument every access: what is counted here is not what programs have.")
	}
	a := New(openPool(t, "heap", slab.Config{}))
	if n := check.Allocs(100, func() {
		for range 50 {
			m, _ := a.Get(100)
			m[0] = 1
			points, _ := Make[point](a, 3)
			points[0].X = 1
		}
		a.Reset()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// An Arena goes on without a chunk whose Release panics, as that of Check does for a dead canary.
func TestAnArenaLosesWhatPanicked(t *testing.T) {
	for what, fill := range map[string]func(a *Arena){
		"the chunk":    func(*Arena) {},
		"a full chunk": func(a *Arena) { mustPiece(t, a, leastChunk) },
	} {
		p := checkedPool(t)
		a := New(p)
		mustPiece(t, a, 100)
		of := a.block
		writeBeyond(of)
		fill(a)
		if !doesPanic(a.Release) {
			t.Fatalf("%s: no panic", what)
		}
		x := check.Ok(p.Get(of.Len()))(t) // the same memory
		if m := mustPiece(t, a, 100); beginsIn(m, x) {
			t.Errorf("%s: a piece is in another owner's buffer", what)
		}
		a.Release()
		if n := p.Stats().DoubleReleases; n != 0 {
			t.Errorf("%s: %d double releases", what, n)
		}
	}
}

func mustPiece(t *testing.T, a *Arena, n int) []byte {
	t.Helper()
	m, err := a.Get(n)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A piece is not the program's to Put, as long as the Arena has its chunk.
func TestPutRefusesPieces(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		p := openLine(t, line)
		a := New(p)
		for _, n := range []int{10, leastChunk, 100_000} { // at the front of chunks, too
			if err := p.Put(mustPiece(t, a, n)); !errors.Is(err, slab.ErrForeign) {
				t.Errorf("%s: %d bytes: %v", line, n, err)
			}
		}
		if err := p.Put(a.chunk); !errors.Is(err, slab.ErrForeign) {
			t.Errorf("%s: a chunk: %v", line, err)
		}
		a.Release()
		checkNoneOut(t, p)
	}
}

// A leak is the line of the program that had the piece, not one in here.
func TestLeaksNameTheCaller(t *testing.T) {
	p := openLine(t, "on_forget=report")
	a := New(p)
	mustPiece(t, a, 10)
	_ = check.Ok(Make[int64](a, 10_000))(t)
	for _, l := range p.Leaks() {
		if !strings.Contains(l.Site, "_test.go") {
			t.Errorf("a buffer is out of %s", l.Site)
		}
	}
	if n := len(p.Leaks()); n != 2 {
		t.Errorf("%d buffers are out", n)
	}
	a.Release()
}

// What is kept of a pool's Config goes with the pool.
func TestRulesGoWithTheirPool(t *testing.T) {
	before := rulesOf.Len()
	for range 20 {
		p := check.Ok(slab.OpenConfig(slab.Config{Zero: true}))(t)
		a := New(p)
		mustPiece(t, a, 10)
		if a.Reset(); !a.rules.zero || a.rules.check {
			t.Errorf("%+v", a.rules)
		}
	}
	for end := time.Now().Add(30 * time.Second); rulesOf.Len() > before; runtime.Gosched() {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d are kept", rulesOf.Len()-before)
		}
	}
}
