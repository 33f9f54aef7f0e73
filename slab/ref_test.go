package slab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/bufslab/bufslab/device"
)

func mustResolve(t testing.TB, r Ref) PooledBuffer {
	t.Helper()
	b, err := r.Get()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkStale(t testing.TB, r Ref) {
	t.Helper()
	if b, err := r.Get(); err != ErrReleased || b != (PooledBuffer{}) {
		t.Errorf("a Ref of a released buffer: %+v, %v", b, err)
	}
}

func TestARefIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Ref{}); n != 16 {
		t.Errorf("%d bytes", n)
	}
}

// A Ref opens the bytes of its handle, a part's as well, as a handle that counts as a part. It ends
// with its handle, though another one still has the memory.
func TestRefOpensItsHandle(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		for _, size := range []int{0, 100, 5000, 100 << 10} {
			p := openPool(t, dev, c)
			b := mustGet(t, p, size)
			device.Fill(b.Bytes(), 7)
			part := mustSlice(t, b, size/4, size/2)
			of := b.Ref()
			for _, h := range []PooledBuffer{b, part} {
				r := h.Ref()
				if r == (Ref{}) || r != h.Ref() || h == part && r == of {
					t.Fatalf("%v, then %v, the buffer's is %v", r, h.Ref(), of)
				}
				got := mustResolve(t, r)
				if got.Len() != h.Len() || got.Cap() != h.Len() || unsafe.SliceData(got.Bytes()) != unsafe.SliceData(h.Bytes()) && h.n > 0 || !sameBlock(got, h) {
					t.Errorf("%d bytes, not the %d of the handle", got.Len(), h.Len())
				}
				if s := p.Stats(); s.ActiveBlocks != 1 || s.ActiveBytes != int64(size) {
					t.Errorf("%+v", s)
				}
				if got.Ref() == r {
					t.Error("two handles have one Ref")
				}
				mustRelease(t, h)
				checkStale(t, r)
				mustRelease(t, mustResolve(t, got.Ref()))
				overwrite(t, p, size, 9)
				if m := got.Bytes(); len(m) > 0 && (m[0] != 7 || m[len(m)-1] != 7) {
					t.Error("what a Ref opened has lost its bytes")
				}
				mustRelease(t, got)
			}
			if s := p.Stats(); s.DoubleReleases != 0 || s.Forgotten != 0 {
				t.Errorf("%+v", s)
			}
			checkNoneOut(t, p)
			p.StopHolding()
			checkNothing(t, p)
		}
	})
}

// sameBlock compares where handles are on their device. On the Go heap each Block is a region of its own.
func sameBlock(a, b PooledBuffer) bool {
	x, y := a.Block(), b.Block()
	return a.slot.Collected() || x == y
}

// The memory has a new owner, and then another: none of their Refs is that of the first.
func TestRefOfAnEarlierOwner(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		seen := map[Ref]bool{}
		for range 100 {
			b := mustGet(t, p, 5000)
			r := b.Ref()
			if seen[r] {
				t.Fatal("two owners have one Ref")
			}
			for old := range seen {
				checkStale(t, old)
			}
			seen[r] = true
			mustRelease(t, mustResolve(t, r))
			mustRelease(t, b)
			p.Trim(0)
		}
	})
}

// There is no Ref of a buffer that is not out, and the zero Ref opens none.
func TestZeroRef(t *testing.T) {
	checkStale(t, Ref{})
	if r := (PooledBuffer{}).Ref(); r != (Ref{}) {
		t.Error(r)
	}
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	mustRelease(t, b)
	if r := b.Ref(); r != (Ref{}) {
		t.Error(r)
	}
}

// Grow ends the Ref, whether the memory moves or not; what was opened before stays as it was.
func TestGrowEndsARef(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		for _, n := range []int{10, 5000, 200_000} {
			p := openPool(t, dev, c)
			b := mustGet(t, p, 5000)
			r := b.Ref()
			grown, err := b.Grow(n)
			if errors.Is(err, device.ErrUnavailable) { // virtual has nothing to copy: b is as before
				mustRelease(t, mustResolve(t, r))
				mustRelease(t, b)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			checkStale(t, r)
			got := mustResolve(t, grown.Ref())
			if got.Len() != n {
				t.Errorf("%d bytes, not %d", got.Len(), n)
			}
			mustRelease(t, got)
			mustRelease(t, grown)
			checkNoneOut(t, p)
		}
	})
}

// While With runs on a buffer that was released its memory stays, and its Ref is stale.
func TestRefWithinWith(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	b := mustGet(t, p, 5000)
	r := b.Ref()
	b.With(func([]byte) {
		mustRelease(t, mustResolve(t, r))
		mustRelease(t, b)
		checkStale(t, r)
		if b.Ref() != (Ref{}) {
			t.Error("a released buffer has a Ref")
		}
	})
	checkNoneOut(t, p)
}

// A closed pool opens what is still out.
func TestRefOfAClosedPool(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	b, gone := mustGet(t, p, 5000), mustGet(t, p, 5000)
	r, stale := b.Ref(), gone.Ref()
	mustRelease(t, gone)
	if err := p.Close(); err == nil {
		t.Error("nothing was out")
	}
	checkStale(t, stale)
	got := mustResolve(t, r)
	mustRelease(t, b)
	checkStale(t, r)
	mustRelease(t, mustResolve(t, got.Ref()))
	mustRelease(t, got)
}

// By the slice alone a buffer is out, off the heap as well: its Ref opens it until Put.
func TestRefOfABufferBySlice(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, Config{})
		m, err := p.GetBytes(100_000)
		if err != nil {
			t.Fatal(err)
		}
		r := func() Ref { h, _ := p.Lookup(m); return h.Ref() }()
		for range 3 {
			cycle()
			got := mustResolve(t, r)
			if unsafe.SliceData(got.Bytes()) != unsafe.SliceData(m) {
				t.Fatal("other memory")
			}
			mustRelease(t, got)
		}
		if err := p.Put(m); err != nil {
			t.Error(err)
		}
		checkStale(t, r)
		checkNoneOut(t, p)
	}
}

// A Ref does not keep a buffer from being forgotten: it is stale then, and the memory comes back.
func TestARefKeepsNoBuffer(t *testing.T) {
	for _, dev := range everyDevice {
		t.Run(dev, func(t *testing.T) {
			var refs []Ref
			pools := poolsOn(t, dev)
			for _, p := range pools {
				forgetOne(t, p, 100<<10, func(b PooledBuffer) {
					c := mustShare(t, b)
					for _, r := range []Ref{b.Ref(), c.Ref()} {
						mustRelease(t, mustResolve(t, r))
						refs = append(refs, r)
					}
					mustRelease(t, c)
				})
			}
			collectAll(t, pools, func(s Stats) bool { return s.Forgotten == 1 })
			for _, r := range refs {
				checkStale(t, r)
			}
			for _, p := range pools {
				checkNoneOut(t, p)
			}
		})
	}
}

// What a Ref has opened keeps the buffer, though its own handle was dropped.
func TestWhatARefOpensKeepsTheBuffer(t *testing.T) {
	for _, dev := range everyDevice {
		t.Run(dev, func(t *testing.T) {
			pools := poolsOn(t, dev)
			got := make([]PooledBuffer, len(pools))
			for i, p := range pools {
				forgetOne(t, p, 100<<10, func(b PooledBuffer) { got[i] = mustResolve(t, b.Ref()) })
			}
			cycle()
			cycle()
			for i, p := range pools {
				if s := p.Stats(); s.Forgotten != 0 || s.ActiveBlocks != 1 {
					t.Fatalf("%v: %+v", p, s)
				}
				mustRelease(t, got[i])
			}
			clear(got)
			collectAll(t, pools, func(s Stats) bool { return s.Forgotten == 1 })
		})
	}
}

// A Ref keeps no pool: it is collected, and the Ref is stale.
func TestARefKeepsNoPool(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		var pools []weak.Pointer[pool]
		var refs []Ref
		func() {
			for i := range 4 { // dropped, or closed; with nothing out, or something
				p := mustOpen(t, openDevice(t, dev), Config{Device: dev})
				b := mustGet(t, p, 100<<10)
				refs, pools = append(refs, b.Ref()), append(pools, weak.Make(p.pool))
				if i%2 == 0 {
					mustRelease(t, b)
				}
				if i < 2 {
					p.Close()
				}
			}
		}()
		eventually(t, dev+": all pools are collected", func() bool {
			cycle()
			for _, p := range pools {
				if p.Value() != nil {
					return false
				}
			}
			return true
		})
		for _, r := range refs {
			checkStale(t, r)
		}
	}
}

// Leaks names the place where a Ref was opened.
func TestLeaksListsWhatRefsOpened(t *testing.T) {
	p := openPool(t, "heap", Config{OnForget: "report"})
	b := mustGet(t, p, 100)
	got, err := b.Ref().Get()
	_, file, line, _ := runtime.Caller(0)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s:%d", filepath.ToSlash(file), line-1)
	if list := p.Leaks(); len(list) != 2 || list[0].Site != want && list[1].Site != want {
		t.Errorf("%+v, want one at %s", list, want)
	}
	mustRelease(t, got)
	mustRelease(t, b)
}

// A Ref of a buffer with as many parts as it can have opens no more, and before as many as Share gives.
func TestRefOfTooManyParts(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 1)
	var list []PooledBuffer
	for {
		c, err := b.Ref().Get()
		if err != nil {
			if err != ErrParts {
				t.Error(err)
			}
			break
		}
		list = append(list, c)
	}
	if len(list) != 1<<15 {
		t.Errorf("%d parts by Ref, %d by Share", len(list), 1<<15)
	}
	releaseAll(t, list)
	mustRelease(t, mustResolve(t, b.Ref()))
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// Strings, JSON and keys of maps read back to the same Ref.
func TestRefAsText(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	defer b.Release()
	for _, r := range []Ref{{}, b.Ref(), {1, 2}, {^uint64(0), ^uint64(0)}} {
		if got, err := ParseRef(r.String()); got != r || err != nil || len(r.String()) > 41 {
			t.Errorf("%v: %v, %v", r, got, err)
		}
		type message struct {
			Body  Ref
			Sizes map[Ref]int
		}
		text, err := json.Marshal(message{r, map[Ref]int{r: 5}})
		var back message
		if err2 := json.Unmarshal(text, &back); err != nil || err2 != nil || back.Body != r || back.Sizes[r] != 5 {
			t.Errorf("%s: %+v, %v, %v", text, back, err, err2)
		}
	}
}

var noRefs = []string{"", "slabref-", "slabref-0000000000000000", "slabref-0000000000000000-", "slabref-000000000000000-1", "slabref-0000000000000000-01",
	"slabref-000000000000000A-1", "slabref-0000000000000000-A", "slabref-0000000000000000-1 ", "slabref-0000000000000000_1", "slabref-00000000000000000-1",
	"slabref-0000000000000000-+1", "slabref--000000000000001-1", "slabref-0000000000000000-10000000000000000", "Slabref-0000000000000000-1", strings.Repeat("x", 1000)}

// What is no text of a Ref is a *RefError, which quotes a little of it, and leaves a Ref as it was.
func TestParseRefRefuses(t *testing.T) {
	for _, text := range noRefs {
		r := Ref{1, 2}
		_, err := ParseRef(text)
		var wrong *RefError
		if !errors.As(err, &wrong) || wrong.Text != text || len(err.Error()) > 200 {
			t.Errorf("%q: %v", text, err)
		}
		if err := r.UnmarshalText([]byte(text)); err == nil || r != (Ref{1, 2}) {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

// The error quotes up to 60 bytes, and counts the rest.
func TestARefErrorQuotesTheBeginning(t *testing.T) {
	for n, want := range map[int]string{
		2:  `slab: "xx" is not the text of a Ref`,
		60: `slab: "` + strings.Repeat("x", 60) + `" is not the text of a Ref`,
		61: `slab: "` + strings.Repeat("x", 60) + `" and 1 bytes more are not the text of a Ref`,
	} {
		if text := (&RefError{strings.Repeat("x", n)}).Error(); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}

// A Ref of another process opens nothing here, though that process has done the same.
func TestRefOfAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ref")
	const name = "BUFSLAB_TEST_REF"
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	if to := os.Getenv(name); to != "" {
		file = to
	}
	if inChild(t, name+"="+file) {
		if err := os.WriteFile(file, []byte(b.Ref().String()), 0o666); err != nil {
			t.Error(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRef(string(text))
	if err != nil || r == b.Ref() {
		t.Errorf("%v, ours is %v: %v", r, b.Ref(), err)
	}
	checkStale(t, r)
	mustRelease(t, b)
}

// Whatever text is tried opens the one buffer that has this text, or nothing.
func FuzzParseRef(f *testing.F) {
	for _, text := range noRefs {
		f.Add(text)
	}
	f.Add(Ref{1, 2}.String())
	p := openPool(f, "heap", Config{})
	b := mustGet(f, p, 100)
	f.Add(b.Ref().String())
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRef(text)
		var wrong *RefError
		switch {
		case err != nil && (!errors.As(err, &wrong) || wrong.Text != text || r != Ref{}):
			t.Errorf("%v, %v", r, err)
		case err == nil && r.String() != text:
			t.Errorf("%q reads as %v", text, r)
		}
		got, err := r.Get()
		if (err == nil) != (text == b.Ref().String()) {
			t.Errorf("%q opens %d bytes: %v", text, got.Len(), err)
		}
		got.discard()
	})
}
