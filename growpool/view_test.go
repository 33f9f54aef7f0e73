package growpool

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/slab"
)

// recovered returns what f panics with, "" if it does not.
func recovered(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func TestAtSetAndRowCountTheLastIndexFastest(t *testing.T) {
	p := open(t, Config{})
	for _, shape := range [][]int{{24}, {4, 6}, {2, 3, 4}, {2, 3, 2, 2}, {1, 24}, {24, 1}, {1, 1, 24, 1, 1}} {
		v := mustGet[int](t, p, "k", shape...)
		if !slices.Equal(v.Shape(), shape) || v.Len() != 24 {
			t.Fatalf("%v: shape %v, %d elements", shape, v.Shape(), v.Len())
		}
		i := make([]int, len(shape))
		for n := range 24 {
			v.Set(100+n, i...)
			if v.Slice()[n] != 100+n || v.At(i...) != 100+n {
				t.Fatalf("%v: element %d is not %v", shape, n, i)
			}
			if row := v.Row(i[:len(i)-1]...); row[i[len(i)-1]] != 100+n || len(row) != shape[len(shape)-1] || cap(row) != len(row) {
				t.Fatalf("%v: row of %v is %v", shape, i, row)
			}
			for k := len(i) - 1; k >= 0; k-- {
				if i[k]++; i[k] < shape[k] {
					break
				}
				i[k] = 0
			}
		}
	}
	v := mustGet[int](t, p, "k", 2, 3, 4)
	if plane := v.Row(1); len(plane) != 12 || &plane[0] != &v.Slice()[12] || len(v.Row()) != 24 {
		t.Error("Row with fewer indices is not the plane")
	}
}

func TestIndicesOutOfRangePanic(t *testing.T) {
	p := open(t, Config{})
	v1, v2, v3 := mustGet[byte](t, p, "1", 5), mustGet[byte](t, p, "2", 2, 3), mustGet[byte](t, p, "3", 2, 3, 4)
	const big = int(^uint(0)>>1)/3 + 1 // times 3 is 2 beyond the largest int
	const huge = int(^uint(0)/3) + 1   // and 3 beyond the largest uint
	for name, f := range map[string]func(){
		"index [5] of shape [5]":           func() { v1.At(5) },
		"index [-1] of shape [5]":          func() { v1.At(-1) },
		"index [0 0] of shape [5]":         func() { v1.At(0, 0) },
		"index [2 0] of shape [2 3]":       func() { v2.At(2, 0) },
		"index [0 3] of shape [2 3]":       func() { v2.Set(0, 0, 3) },
		"index [0 -1] of shape [2 3]":      func() { v2.At(0, -1) },
		"index [-1 0] of shape [2 3]":      func() { v2.At(-1, 0) },
		"0] of shape [2 3]":                func() { v2.At(big, 0) },
		" 1] of shape [2 3]":               func() { v2.At(huge, 1) },
		"index [0] of shape [2 3]":         func() { v2.At(0) },
		"index [2] of shape [2 3]":         func() { v2.Row(2) },
		"index [0 0] of shape [2 3]":       func() { v2.Row(0, 0) },
		"index [0] of shape [5]":           func() { v1.Row(0) },
		"index [0 0 0] of shape [2 3]":     func() { v2.Row(0, 0, 0) },
		"index [1 1 1 1] of shape [2 3 4]": func() { v3.Row(1, 1, 1, 1) },
		"index [0 0 4] of shape [2 3 4]":   func() { v3.At(0, 0, 4) },
		"index [0 3 0] of shape [2 3 4]":   func() { v3.At(0, 3, 0) },
		"index [0 0 0 0] of shape [2 3 4]": func() { v3.At(0, 0, 0, 0) },
		"index [] of shape []":             func() { (View[byte]{}).At() },
		"index [0] of shape []":            func() { (View[byte]{}).Set(1, 0) },
	} {
		if text := recovered(f); !strings.Contains(text, name) {
			t.Errorf("no word of %q in %q", name, text)
		}
	}
}

func TestTheZeroViewShowsNothing(t *testing.T) {
	var v View[int]
	if v.Slice() != nil || v.Shape() != nil || v.Len() != 0 || v.Valid() || v.Block() != (device.Block{}) {
		t.Error("it shows something")
	}
}

func TestValidUntilALargerGetOfTheKey(t *testing.T) {
	p := open(t, Config{})
	v := mustGet[int](t, p, "k", 10)
	mustGet[int](t, p, "k", 3)
	mustGet[int](t, p, "other", 30)
	if !v.Valid() {
		t.Error("a hit made it stale")
	}
	w := mustGet[int](t, p, "k", 11)
	if v.Valid() || !w.Valid() {
		t.Error("a grow did not")
	}
}

// In check builds the use of a stale view panics and names the key; in others
// it shows the old memory, whatever has new memory meanwhile.
func TestStaleView(t *testing.T) {
	p := open(t, Config{})
	v := mustGet[int](t, p, "coeff", 10, 10)
	old := v.Slice()
	mustGet[int](t, p, "coeff", 11, 10)
	const says = `growpool: view of key "coeff" used after a later Get replaced its buffer`
	for name, f := range map[string]func(){
		"Slice": func() { v.Slice()[99] = 7 },
		"At":    func() { v.At(9, 9) },
		"Set":   func() { v.Set(7, 9, 9) },
		"Row":   func() { v.Row(9)[9] = 7 },
		"Block": func() { v.Block() },
	} {
		want := ""
		if invariants.Enabled {
			want = says
		}
		if text := recovered(f); text != want {
			t.Errorf("%s: panic %q, want %q", name, text, want)
		}
	}
	old[99] = 8 // what was a slice before stays one
	if !invariants.Enabled && (v.At(9, 9) != 8 || v.Row(9)[9] != 8) {
		t.Error("the view and its slice have come apart")
	}
}

// viewRounds keeps a stale view's last element, lets the collector run, writes to new
// buffers, and counts the views that changed.
func viewRounds(t *testing.T, get func(round, n int) []byte) (corrupt int) {
	for round := range 60 {
		old := get(round, 5000)
		old = old[4999:]
		old[0] = 0xA5
		get(round, 6000)
		collect()
		for i := range 10 {
			m := get(1000*round+i, 5000)
			for k := range m {
				m[k] = 0x5A
			}
		}
		if old[0] != 0xA5 {
			corrupt++
		}
	}
	return corrupt
}

func TestStaleViewsOfHeapMemoryNeverAlias(t *testing.T) {
	p := New[int](openSlab(t, "device=heap"), Config{})
	if n := viewRounds(t, func(key, n int) []byte {
		v, err := Get[byte](p, key, n)
		if err != nil {
			t.Fatal(err)
		}
		return v.Slice()
	}); n != 0 {
		t.Errorf("%d stale views of 60 were overwritten", n)
	}
}

// The control: a pool that releases what it replaces fails the same test.
func TestReleasingTheReplacedAliases(t *testing.T) {
	below := openSlab(t, "device=heap")
	p := New[int](below, Config{})
	if n := viewRounds(t, func(key, n int) []byte {
		l, err := Acquire[byte](t.Context(), p, key, n)
		if err != nil {
			t.Fatal(err)
		}
		m := l.Slice()
		l.Release()
		return m
	}); n == 0 {
		t.Error("no view was overwritten: the test cannot fail")
	}
}

func TestReplacedHeapMemoryComesBack(t *testing.T) {
	for _, size := range []int{100, 100_000} {
		below := openSlab(t, "device=heap")
		p := New[int](below, Config{})
		for i := range 100 {
			if _, err := Get[byte](p, 1, size+i*size/100); err != nil {
				t.Fatal(err)
			}
		}
		p.Clear()
		below.FreeHeld()
		for range 3 {
			collect()
		}
		if s := below.Stats(); s.ActiveBlocks != 0 || s.Forgotten != 100 {
			t.Errorf("sizes from %d: %+v", size, s)
		}
	}
}

// Off the heap only views tell: without a slice the memory comes back, with one it is
// never used again.
func TestReplacedMemoryOffTheHeap(t *testing.T) {
	for _, sliced := range []bool{false, true} {
		below := openSlab(t, "device=mmap")
		p := New[int](below, Config{})
		var views [10]View[byte]
		for i := range views {
			v, err := Get[byte](p, 1, 100_000+i)
			if err != nil {
				t.Fatal(err)
			}
			v.Set(1, 99_999)
			if sliced {
				v.Slice()[0] = 1
			}
			views[i] = v
		}
		p.Clear()
		runtime.KeepAlive(&views) // or a collection before would have memory come back that a Get then reuses
		for range 3 {
			collect()
		}
		s := below.Stats()
		if s.ActiveBlocks != 0 || s.Forgotten != 10 || (s.HeldBytes >= 1_000_000) == sliced {
			t.Errorf("with a slice %v: %+v", sliced, s)
		}
	}
}

func TestMemoryThatTheCPUDoesNotReach(t *testing.T) {
	p := New[string](openSlab(t, "device=sim:16MiB"), Config{})
	v, err := Get[float32](p, "k", 100, 10)
	if err != nil {
		t.Fatal(err)
	}
	if b := v.Block(); v.Slice() != nil || v.Row(1) != nil || b.Len != 4000 || b.Region == nil {
		t.Errorf("%v", b)
	}
	if text := recovered(func() { v.At(0, 0) }); !strings.Contains(text, "does not reach") {
		t.Error(text)
	}
	l := acquire[float32](t, p, "l", 10)
	if l.Slice() != nil || l.Block().Len != 40 {
		t.Error(l.Block())
	}
	release(t, l)
}

// What a View or a Lease shows is the pool's: a Put of it gives nothing back.
func TestPutRefusesWhatAKeyHas(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		below := openSlab(t, line)
		p := New[string](below, Config{})
		l := acquire[byte](t, p, "lease", 100, 100)
		other := acquire[byte](t, p, "block", 5000)
		v := mustGet[byte](t, p, "view", 5000)
		want := int64(0)
		for what, m := range map[string][]byte{
			"Slice": l.Slice(), "Row": l.Row(0), "View": v.Slice(), "Block": device.Bytes(other.Block()),
		} {
			want++
			if err := below.Put(m); !errors.Is(err, slab.ErrForeign) || below.Stats().ForeignPuts != want {
				t.Errorf("%s, %s: %v", line, what, err)
			}
		}
		release(t, l)
		release(t, other)
		if s := below.Stats(); s.DoubleReleases != 0 {
			t.Errorf("%s: %+v", line, s)
		}
		p.Close()
	}
}
