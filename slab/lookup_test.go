package slab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// bySlice are the lines whose pools find buffers by slice.
var bySlice = []string{
	"", "device=mmap", "device=mmap:fixed", "strategy=exact", "device=mmap,strategy=bestfit,cache_bytes=0",
	"device=mmap,strategy=bitlog", "check=true", "device=mmap,check=true", "strict=true", "on_forget=report,device=mmap",
}

func TestLookupFindsWhatIsOut(t *testing.T) {
	for _, line := range bySlice {
		p := openLine(t, line)
		for _, size := range []int{0, 1, 16, 100, 4096, 5000, 40_000, 1 << 20} {
			b := mustGet(t, p, size)
			m := b.Bytes()
			for _, m := range [][]byte{m, m[:0], m[:size/2], slices.Clip(m[:size/2])} {
				if h, ok := p.Lookup(m); ok != (cap(m) > 0 || size == 0) || ok && h != b {
					t.Errorf("%s: of %d bytes, a slice of %d, cap %d: %v, %v", line, size, len(m), cap(m), h, ok)
				}
			}
			if err := p.Put(m); err != nil || b.Bytes() != nil {
				t.Errorf("%s: %d bytes: %v", line, size, err)
			}
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.ForeignPuts != 0 || s.DoubleReleases != 0 {
			t.Errorf("%s: %+v", line, s)
		}
	}
}

func TestPutRefusesWhatIsNotOut(t *testing.T) {
	for _, line := range bySlice {
		if strings.Contains(line, "strict") {
			continue
		}
		p, other := openLine(t, line), openLine(t, line)
		for _, size := range []int{1, 100, 5000, 70_000} {
			b, theirs, stale := mustGet(t, p, size), mustGet(t, other, size), mustGet(t, p, size)
			old := stale.Bytes()
			mustRelease(t, stale)
			for what, m := range map[string][]byte{
				"nil": nil, "no": {}, "foreign": make([]byte, size), "stale": old, "another pool's": theirs.Bytes(),
				"interior": append(b.Bytes(), 0)[1:], "last": b.Bytes()[size-1:], "end": b.Bytes()[size:],
			} {
				if what == "last" && size == 1 {
					continue
				}
				before := p.Stats().ForeignPuts
				if err := p.Put(m); !errors.Is(err, ErrForeign) || p.Stats().ForeignPuts != before+1 {
					t.Errorf("%s: %d bytes, %s: %v", line, size, what, err)
				}
			}
			if err := errors.Join(p.Put(b.Bytes()), other.Put(theirs.Bytes())); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 0 {
			t.Errorf("%s: %+v", line, s)
		}
	}
}

// What is hidden is found by its handle alone; its next owner, and what it grows to, by slice, too.
func TestHide(t *testing.T) {
	for _, line := range bySlice {
		p := openLine(t, line)
		for _, size := range []int{0, 1, 100, 5000, 1 << 20} {
			b := mustGet(t, p, size)
			m := b.Bytes()
			b.Hide()
			b.Hide()
			if _, found := p.Lookup(m); found {
				t.Errorf("%s: %d bytes are found", line, size)
			}
			grown, err := b.Grow(size + 1)
			if err != nil {
				t.Fatal(err)
			}
			b.Hide() // is stale
			if err := p.Put(grown.Bytes()); err != nil {
				t.Errorf("%s: what %d bytes grew to: %v", line, size, err)
			}
			b = mustGet(t, p, size)
			b.Hide()
			mustRelease(t, b)
			next := mustGet(t, p, size)
			b.Hide()
			if err := p.Put(next.Bytes()); err != nil {
				t.Errorf("%s: the owner after one of %d bytes: %v", line, size, err)
			}
		}
		checkNoneOut(t, p)
		if n := p.Stats().ForeignPuts; n != 0 {
			t.Errorf("%s: %d foreign Puts", line, n)
		}
	}
}

// Hide does nothing where there is no slice to be found by.
func TestHideOfNothing(t *testing.T) {
	PooledBuffer{}.Hide()
	p := openLine(t, "device=sim")
	b := mustGet(t, p, 100)
	b.Hide()
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// A Release while Hide runs takes effect, and hides no one else.
func TestHideWhileAnotherReleases(t *testing.T) {
	p := openLine(t, "")
	for range 2000 {
		b := mustGet(t, p, 100)
		var wg sync.WaitGroup
		wg.Go(b.Hide)
		wg.Go(func() { mustRelease(t, b) })
		next := mustGet(t, p, 100)
		if err := p.Put(next.Bytes()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	}
	checkNoneOut(t, p)
}

func TestPutOfAForeignSliceIsStrict(t *testing.T) {
	p := openLine(t, "strict=true")
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, "lookup_test.go") {
			t.Errorf("%q", text)
		}
	}()
	_ = p.Put(make([]byte, 10))
}

func TestBytesOfADeviceCannotBeHad(t *testing.T) {
	p := openLine(t, "device=sim:1MiB")
	if b, err := p.GetBytes(100); b != nil || !errors.Is(err, device.ErrUnavailable) || p.Stats().ActiveBlocks != 0 {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := p.GetBytes(-1); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
	var none *Pool
	if _, ok := none.Lookup([]byte{1}); ok || !errors.Is(none.Put([]byte{1}), ErrClosed) {
		t.Error("a pool that was not opened")
	}
}

// Off the heap the program has slices that the collector does not see. Those of GetBytes stay
// out and keep their contents; those of handles that are gone do not.
func TestSlicesOffTheHeapStayOut(t *testing.T) {
	p := openLine(t, "device=mmap")
	var out [][]byte
	for i := range 100 {
		m, err := p.GetBytes(100 + 1000*i)
		if err != nil || len(m) != 100+1000*i || cap(m) != len(m) {
			t.Fatal(len(m), cap(m), err)
		}
		m[0], m[len(m)-1] = byte(i), byte(i)
		out = append(out, m)
	}
	for range 3 {
		cycle()
	}
	for i, m := range out {
		if m[0] != byte(i) || m[len(m)-1] != byte(i) {
			t.Fatalf("%d has %d and %d", i, m[0], m[len(m)-1])
		}
		if h, ok := p.Lookup(m); !ok || &h.Bytes()[0] != &m[0] { // Bytes does not make it a handle's
			t.Fatalf("%d is not found", i)
		}
	}
	cycle()
	for i, m := range out {
		if err := p.Put(m); err != nil {
			t.Fatal(i, err)
		}
	}
	if s := p.Stats(); s.Forgotten != 0 || s.ActiveBlocks != 0 || s.ForeignPuts != 0 {
		t.Errorf("%+v", s)
	}
}

// What a slice of GetBytes grows to is known by its slice alone, too, wherever it goes: also
// from a block that is not watched to one that is.
func TestGrownSlicesOffTheHeapStayOut(t *testing.T) {
	for _, line := range []string{"device=mmap", "device=mmap,strategy=bestfit", "device=mmap,strategy=sizeclass", "device=mmap,check=true"} {
		p := openLine(t, line)
		var out [][]byte
		for i, size := range []int{100, 5_000, 5_000, 300_000, 3 << 20} {
			m, err := p.GetBytes(size)
			if err != nil {
				t.Fatal(err)
			}
			device.Fill(m, byte(i+1))
			for _, n := range []int{size + 8, 2 * size, 100_000 + 3*size} {
				h, _ := p.Lookup(m)
				m = mustGrow(t, h, n).Bytes()
			}
			device.Fill(m, byte(i+1))
			out = append(out, m)
		}
		for range 3 {
			cycle()
		}
		for i, m := range out {
			if m[0] != byte(i+1) || m[len(m)-1] != byte(i+1) {
				t.Fatalf("%s: %d has %d and %d", line, i, m[0], m[len(m)-1])
			}
			if err := p.Put(m); err != nil {
				t.Errorf("%s: %d: %v", line, i, err)
			}
		}
		if s := p.Stats(); s.Forgotten != 0 || s.ActiveBlocks != 0 {
			t.Errorf("%s: %+v", line, s)
		}
	}
}

// A slot that was found dead while a slice stood for it is watched for its next owner.
func TestAHandleAfterASliceIsFoundForgotten(t *testing.T) {
	p := openLine(t, "device=mmap")
	m, err := p.GetBytes(50_000)
	if err != nil {
		t.Fatal(err)
	}
	cycle() // the slot is found dead
	if err := p.Put(m); err != nil {
		t.Fatal(err)
	}
	if h := mustGet(t, p, 50_000); h.Cap() == 0 {
		t.Fatal("a buffer of 0 bytes")
	}
	eventually(t, "the buffer is found", func() bool { cycle(); return p.Stats().Forgotten > 0 })
}

// On the Go heap nothing that Lookup needs keeps memory alive.
func TestForgottenSlicesOnTheHeapComeBack(t *testing.T) {
	p := openLine(t, "")
	for range 100 {
		if m, err := p.GetBytes(100_000); err != nil || p.Put(make([]byte, 1)) == nil || len(m) == 0 {
			t.Fatal(err)
		}
	}
	eventually(t, "the buffers are found", func() bool { cycle(); return p.Stats().Forgotten >= 99 }) // the stack may show one
}

// Goroutines that put what others have got, beside collections and a pool that gives back.
func TestPutsOfOthers(t *testing.T) {
	for _, line := range []string{"", "device=mmap", "device=mmap,strategy=bestfit,cache_bytes=0"} {
		p := openLine(t, line)
		slices := make(chan []byte, 64)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for m := range slices {
					if err := p.Put(m); err != nil {
						t.Errorf("%d bytes: %v", len(m), err)
					}
					_ = p.Put(m[1:])
				}
			})
		}
		for i := range 5_000 {
			m, err := p.GetBytes(2 + i*37%20_000)
			if err != nil {
				t.Fatal(err)
			}
			slices <- m
			switch i % 1_000 {
			case 0:
				runtime.GC()
			case 500:
				p.FreeHeld()
			}
		}
		close(slices)
		all.Wait()
		if s := p.Stats(); s.ActiveBlocks != 0 || s.Forgotten != 0 || s.ForeignPuts != 5_000 {
			t.Errorf("%s: %+v", line, s)
		}
	}
}

// BenchmarkPairs compares a pair by handle with one by slice.
func BenchmarkPairs(b *testing.B) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		p := openLine(b, line)
		for _, size := range []int{4 << 10, 64 << 10} {
			name := fmt.Sprintf("%s/%d", line, size)
			b.Run(name+"/handle", func(b *testing.B) {
				for b.Loop() {
					h, _ := p.Get(size)
					_ = h.Release()
				}
			})
			b.Run(name+"/slice", func(b *testing.B) {
				for b.Loop() {
					h, _ := p.Get(size)
					_ = p.Put(h.Bytes())
				}
			})
			b.Run(name+"/GetBytes", func(b *testing.B) {
				for b.Loop() {
					m, _ := p.GetBytes(size)
					_ = p.Put(m)
				}
			})
		}
	}
}

// Off the heap only the index knows the slot of a slice. Puts race with what the collector
// has found about it: neither may a buffer then have two owners, nor a slot be freed.
func TestPutsBesideCollections(t *testing.T) {
	for _, line := range []string{"device=mmap", "device=mmap,cache_bytes=0", "device=mmap,strategy=sizeclass"} {
		p := openLine(t, line)
		var all sync.WaitGroup
		var done atomic.Bool
		for i := range byte(3) {
			all.Go(func() {
				var out [][]byte
				for n := 0; !done.Load(); n++ {
					m, err := p.GetBytes(30_000 + n%3*20_000)
					if err != nil {
						t.Error(err)
						return
					}
					m[0], m[len(m)/2], m[len(m)-1] = i+1, i+1, i+1
					if out = append(out, m); len(out) > n%7 {
						m, out = out[0], out[1:]
						if m[0] != i+1 || m[len(m)/2] != i+1 || m[len(m)-1] != i+1 {
							t.Error("a buffer has two owners")
						}
						if err := p.Put(m); err != nil {
							t.Error(err)
						}
					}
				}
				for _, m := range out {
					_ = p.Put(m)
				}
			})
		}
		for range long(t, 5) {
			runtime.GC()
		}
		done.Store(true)
		all.Wait()
		if s := p.Stats(); s.ActiveBlocks != 0 || s.Forgotten != 0 || s.ForeignPuts != 0 {
			t.Errorf("%s: %+v", line, s)
		}
	}
}

// What a slice of 0 bytes grows to is out for the new slice alone, as any other.
func TestAnEmptySliceGrows(t *testing.T) {
	for _, line := range []string{"device=mmap", "device=mmap,strategy=exact", "device=heap"} {
		p := openLine(t, line)
		m := check.Ok(p.GetBytes(0))(t)
		m = func() []byte {
			b, ok := p.Lookup(m)
			if !ok {
				t.Fatal("not found")
			}
			return check.Ok(b.Grow(100 << 10))(t).Bytes()
		}()
		for range 3 {
			cycle()
		}
		if m[0] = 1; p.Stats().Forgotten != 0 {
			t.Errorf("%s: %v", line, p.Stats())
		}
		check.Must(t, p.Put(m))
		checkNoneOut(t, p)
		check.Must(t, p.Close())
	}
}

// The error of a Put names the pool that has the slice, also if that is closed, and none where none has
// it: a part, what was released, and what is hidden.
func TestPutNamesThePoolThatHasTheSlice(t *testing.T) {
	a, b := openLine(t, "name=mine"), openLine(t, "device=mmap,name=yours")
	strict := openLine(t, "strict=true")
	m, err := b.GetBytes(5000)
	if err != nil {
		t.Fatal(err)
	}
	const want = "slab: the slice begins no buffer of this pool that is out: pool yours has it"
	for range 2 {
		if err := a.Put(m); !errors.Is(err, ErrForeign) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if text := panicOf(func() { strict.Put(m) }); !strings.Contains(text, "; pool yours has it") {
			t.Errorf("strict says %s", text)
		}
		b.Close()
	}
	if err := a.Put(m[1:]); err != ErrForeign {
		t.Errorf("a part: %v", err)
	}
	if err := b.Put(m); err != nil {
		t.Error(err)
	}
	if err := a.Put(m); err != ErrForeign {
		t.Errorf("a slice that was put: %v", err)
	}
}

// GetBytesContext waits as GetContext does, and gives a slice that Put takes back.
func TestGetBytesContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openLine(t, "device=mmap,max_bytes=1MiB,trim_after=none")
		out := check.Ok(p.GetBytesContext(context.Context(nil), 600<<10))(t)
		if len(out) != 600<<10 || cap(out) != len(out) {
			t.Errorf("%d bytes of %d", len(out), cap(out))
		}
		done := make(chan []byte)
		go func() { done <- check.Ok(p.GetBytesContext(context.Background(), 600<<10))(t) }()
		synctest.Wait()
		check.Must(t, p.Put(out))
		check.Must(t, p.Put(<-done))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var wait *WaitError
		if b, err := p.GetBytesContext(ctx, 10); b != nil || !errors.As(err, &wait) {
			t.Errorf("%d bytes, %v", len(b), err)
		}
		if b, err := p.GetBytesContext(ctx, -1); b != nil || !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes, %v", len(b), err)
		}
		checkNoneOut(t, p)
		p.Close()
	})
	q := openLine(t, "device=virtual")
	if b, err := q.GetBytesContext(t.Context(), 10); b != nil || !errors.Is(err, device.ErrUnavailable) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	checkNoneOut(t, q)
}
