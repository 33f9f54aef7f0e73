package unified_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// A Ref opens a buffer of its own with shape, contents and states; the memory goes with the last.
func TestARefOpensABuffer(t *testing.T) {
	d := sim.New(1 << 20)
	b := check.Ok(unified.New[float32](d, 2, 3))(t)
	check.Must(t, b.Fill(7), b.SyncToDevice())
	r := b.Ref()
	if r == (unified.Ref[float32]{}) || r != b.Ref() {
		t.Errorf("the Refs of a buffer are %v and %v", r, b.Ref())
	}
	other := check.Ok(r.Get())(t)
	if !slices.Equal(other.Shape(), []int{2, 3}) || other.State() != unified.Synchronized || other.Ref() == r {
		t.Errorf("shape %v, %v, Ref %v", other.Shape(), other.State(), other.Ref())
	}
	check.Must(t, other.Fill(8))
	if m := check.Ok(b.Host())(t); m[5] != 8 || b.State() != unified.HostDirty {
		t.Errorf("a write by one is not seen by the other: %v, %v", m, b.State())
	}
	check.Must(t, b.Free())
	check.Wraps(t, b.Free(), unified.ErrReleased)
	check.Wraps(t, check.Err(r.Get()), unified.ErrReleased, slab.ErrReleased)
	if s, m := other.State(), check.Ok(other.Host())(t); m[5] != 8 || s != unified.HostDirty {
		t.Errorf("the array has gone with the first buffer: %v, %v", s, m)
	}
	check.Must(t, other.Free())
	check.Wraps(t, check.Err(other.Host()), unified.ErrReleased)
}

// The Ref of a view opens its elements, also when the view is gone. What it opens is freed on its own.
func TestARefOfAView(t *testing.T) {
	b := check.Ok(unified.New[int32](sim.New(1<<20), 10))(t)
	check.Must(t, b.CopyFrom([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))
	r := check.Ok(b.View(2, 5))(t).Ref()
	if r == b.Ref() || r != check.Ok(b.View(2, 5))(t).Ref() || r == check.Ok(b.View(2, 6))(t).Ref() {
		t.Error("views of the same elements have two Refs, or others have one")
	}
	runtime.GC()
	v := check.Ok(r.Get())(t)
	check.Same(t, check.Ok(v.ToSlice())(t), []int32{2, 3, 4}, "elements of the view")
	part := check.Ok(v.View(1, 2))(t)
	err := part.Free()
	check.Wraps(t, err, unified.ErrView)
	if !strings.Contains(err.Error(), "elements 1 to 2 of 3") {
		t.Error(err)
	}
	check.Same(t, check.Ok(check.Ok(part.Ref().Get())(t).ToSlice())(t), []int32{3}, "elements of a view of it")
	check.Must(t, b.Free())
	check.Wraps(t, check.Err(r.Get()), unified.ErrReleased)
	check.Same(t, check.Ok(v.ToSlice())(t), []int32{2, 3, 4}, "elements after Free of the buffer")
	check.Must(t, v.Free())
}

// A pool keeps the array when the last buffer of it is released, and its next owner is none that a Ref
// of the owner before opens.
func TestRefsOfAPoolsBuffers(t *testing.T) {
	p := unified.NewPool(sim.New(1<<20), unified.PoolConfig{})
	b := check.Ok(unified.Acquire[int32](p, 4))(t)
	r := b.Ref()
	other := check.Ok(r.Get())(t)
	check.Must(t, b.Release())
	if s := p.Stats(); s.TotalReleased != 0 || s.PoolSize != 0 {
		t.Errorf("kept while another has it: %+v", s)
	}
	check.Must(t, other.Release())
	if s := p.Stats(); s.TotalReleased != 1 || s.PoolSize != 1 || s.TotalAcquired != 1 {
		t.Errorf("not kept once: %+v", s)
	}
	next := check.Ok(unified.Acquire[int32](p, 4))(t)
	if p.Stats().CacheHits != 1 || next.Ref() == r {
		t.Errorf("%+v, Ref %v", p.Stats(), next.Ref())
	}
	check.Wraps(t, check.Err(r.Get()), unified.ErrReleased)
	check.Must(t, next.Release())
	p.StopHolding()
}

// Where there is no buffer there is no Ref; type and text are checked.
func TestRefsThatOpenNothing(t *testing.T) {
	var none *unified.Buffer[int32]
	b := check.Ok(unified.New[int32](sim.New(1<<20), 4))(t)
	r := b.Ref()
	if none.Ref() != (unified.Ref[int32]{}) || new(unified.Buffer[int32]).Ref() != (unified.Ref[int32]{}) {
		t.Error("a nil or zero Buffer has a Ref")
	}
	if n := unsafe.Sizeof(r); n != 16 {
		t.Errorf("a Ref has %d bytes", n)
	}
	err := check.Err(unified.Ref[uint32](r).Get())
	check.Wraps(t, err, unified.ErrType)
	if want := "unified: a buffer of int32 opened as one of uint32: no element type for it"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	text := r.String()
	type message struct {
		In    unified.Ref[int32]
		Sizes map[unified.Ref[int32]]int
	}
	var got message
	check.Must(t, json.Unmarshal(check.Ok(json.Marshal(message{r, map[unified.Ref[int32]]int{r: 4}}))(t), &got))
	if got.In != r || got.Sizes[r] != 4 || len(text) > 44 || !strings.HasPrefix(text, "unifiedref-") {
		t.Errorf("%q is read as %+v", text, got)
	}
	for _, bad := range []string{"", "unifiedref-", "leaseref-0000000000000001-1", text + " "} {
		old := r
		var e *slab.RefError
		if err := r.UnmarshalText([]byte(bad)); !errors.As(err, &e) || e.Text != bad || r != old {
			t.Errorf("%q: %v, %v", bad, err, r)
		}
	}
	check.Must(t, b.Free())
	if b.Ref() != (unified.Ref[int32]{}) {
		t.Error("a freed buffer has a Ref")
	}
	check.Wraps(t, check.Err(unified.Ref[int32]{}.Get()), unified.ErrReleased)
}

// A Ref keeps nothing alive: the memory of a forgotten buffer comes back, and its Ref opens nothing.
func TestARefKeepsNoBuffer(t *testing.T) {
	below := check.Ok(slab.Open(sim.New(1<<20), slab.Config{}))(t)
	p := unified.NewPoolOn(nil, below, unified.PoolConfig{})
	r := func() unified.Ref[byte] {
		b := check.Ok(unified.Acquire[byte](p, 5000))(t)
		check.Err(b.Device())
		return b.Ref()
	}()
	for below.Stats().ActiveBlocks != 0 { // the test's own deadline ends this
		runtime.GC()
		runtime.Gosched()
	}
	check.Wraps(t, check.Err(r.Get()), unified.ErrReleased)
	runtime.KeepAlive(p)
}

// While buffers are released and their arrays have their next owners, others open Refs: each sees the
// marks of the buffer that the Ref names, or none.
func TestBufferRefsBesideReleases(t *testing.T) {
	p := unified.NewPool(sim.New(1<<24), unified.PoolConfig{MaxBuffers: 1})
	type letter struct {
		ref  unified.Ref[uint64]
		mark uint64
	}
	var marks atomic.Uint64
	var opened atomic.Int64
	var writers, readers sync.WaitGroup
	box := make(chan letter, 8)
	for range 2 {
		writers.Go(func() {
			for i := range 300 {
				b, err := unified.Acquire[uint64](p, 16)
				if err != nil {
					t.Error(err)
					return
				}
				mark := marks.Add(1)
				b.Fill(mark)
				v, err := b.View(4, 8)
				if err != nil {
					t.Error(err)
				}
				box <- letter{b.Ref(), mark}
				box <- letter{v.Ref(), mark}
				if i%3 == 0 {
					runtime.Gosched()
				}
				if err := b.Release(); err != nil {
					t.Error(err)
				}
			}
		})
		readers.Go(func() {
			for x := range box {
				b, err := x.ref.Get()
				if err != nil {
					if err != unified.ErrReleased {
						t.Error(err)
					}
					continue
				}
				opened.Add(1)
				got, err := b.ToSlice()
				if err != nil || slices.ContainsFunc(got, func(y uint64) bool { return y != x.mark }) {
					t.Errorf("the Ref of buffer %d opens %v, %v", x.mark, got, err)
				}
				if err := b.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(box)
	readers.Wait()
	if opened.Load() == 0 {
		t.Error("no Ref was opened in time")
	}
	if s := p.Stats(); s.TotalReleased != s.TotalAcquired {
		t.Errorf("%+v", s)
	}
	p.StopHolding()
}
