package growpool

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/slab"
)

// A Ref opens a lease of its own, with shape and contents; the key is leased until the last is released.
func TestARefOpensALease(t *testing.T) {
	p := open(t, Config{})
	l := acquire[float64](t, p, "key", 2, 3)
	l.Set(7, 1, 2)
	r := l.Ref()
	if r == (Ref[float64]{}) || r != l.Ref() {
		t.Errorf("the Refs of a lease are %v and %v", r, l.Ref())
	}
	other := check.Ok(r.Get())(t)
	if !slices.Equal(other.Shape(), []int{2, 3}) || other.At(1, 2) != 7 || &other.Slice()[0] != &l.Slice()[0] || !other.Valid() {
		t.Errorf("shape %v, %v", other.Shape(), other.Slice())
	}
	if other.Ref() == r {
		t.Error("two leases have one Ref")
	}
	check.Must(t, l.Release())
	if err := check.Err(r.Get()); err != ErrReleased || !errors.Is(err, slab.ErrReleased) {
		t.Errorf("the Ref of a released lease opens: %v", err)
	}
	if other.At(1, 2) != 7 {
		t.Error("the memory has gone with the first lease")
	}
	check.Wraps(t, check.Err(Get[float64](p, "key", 1)), ErrLeased)
	again := check.Ok(other.Ref().Get())(t) // a lease from a Ref has a Ref
	check.Must(t, other.Release(), again.Release())
	check.Wraps(t, other.Release(), ErrReleased)
	mustGet[float64](t, p, "key", 2, 3)
}

// Where there is no lease there is no Ref, and a Ref that names none opens none.
func TestNoRefWithoutALease(t *testing.T) {
	p := open(t, Config{})
	var none *Lease[byte]
	l := acquire[byte](t, p, "key", 0) // without elements it has one
	if l.Ref() == (Ref[byte]{}) || none.Ref() != (Ref[byte]{}) || new(Lease[byte]).Ref() != (Ref[byte]{}) {
		t.Error("a nil or zero Lease has a Ref, or one without elements has none")
	}
	check.Must(t, check.Ok(l.Ref().Get())(t).Release(), l.Release())
	if l.Ref() != (Ref[byte]{}) {
		t.Error("a released lease has a Ref")
	}
	check.Wraps(t, check.Err(Ref[byte]{}.Get()), ErrReleased)
	if n := unsafe.Sizeof(Ref[byte]{}); n != 16 {
		t.Errorf("a Ref has %d bytes", n)
	}
}

// Release takes the entry, and so does the collector for a lease that was forgotten.
func TestRefsLeaveNothing(t *testing.T) {
	p := open(t, Config{})
	before := leases.Len()
	l := acquire[byte](t, p, "key", 8)
	l.Ref()
	if leases.Len() != before+1 {
		t.Errorf("%d entries more", leases.Len()-before)
	}
	check.Must(t, l.Release())
	if leases.Len() != before {
		t.Errorf("%d entries more after Release", leases.Len()-before)
	}
	r := func() Ref[byte] { return acquire[byte](t, p, "forgotten", 8).Ref() }()
	for leases.Len() != before { // the test's own deadline ends this
		gcwatch.Collect(func() int64 { return int64(leases.Len()) })
	}
	check.Wraps(t, check.Err(r.Get()), ErrReleased)
}

// The element type is checked, which a text does not have.
func TestARefOfAnotherTypeIsRefused(t *testing.T) {
	p := open(t, Config{})
	l := acquire[float64](t, p, "key", 8)
	defer l.Release()
	for _, r := range []Ref[int64]{parsed[int64](t, l.Ref().String()), Ref[int64](l.Ref())} {
		err := check.Err(r.Get())
		check.Wraps(t, err, ErrElement)
		if want := "growpool: a lease of float64 opened as one of int64: no element of a buffer"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func parsed[T any](t *testing.T, text string) (r Ref[T]) {
	t.Helper()
	check.Must(t, r.UnmarshalText([]byte(text)))
	return r
}

// A Ref goes through a text and through JSON, as a value and as a key.
func TestRefsHaveATextAndJSON(t *testing.T) {
	p := open(t, Config{})
	l := acquire[int32](t, p, "key", 4)
	defer l.Release()
	r := l.Ref()
	if text := r.String(); parsed[int32](t, text) != r || len(text) > 42 || !strings.HasPrefix(text, "leaseref-") {
		t.Errorf("%q is read as %v", text, parsed[int32](t, text))
	}
	type message struct {
		In    Ref[int32]
		Sizes map[Ref[int32]]int
	}
	var got message
	text := check.Ok(json.Marshal(message{r, map[Ref[int32]]int{r: 4}}))(t)
	check.Must(t, json.Unmarshal(text, &got))
	if got.In != r || got.Sizes[r] != 4 {
		t.Errorf("%s is read as %+v", text, got)
	}
	for _, bad := range []string{"", "leaseref-", "slabref-0000000000000001-1", r.String() + " "} {
		old := r
		var e *slab.RefError
		if err := r.UnmarshalText([]byte(bad)); !errors.As(err, &e) || e.Text != bad || r != old {
			t.Errorf("%q: %v, %v", bad, err, r)
		}
	}
}

// Close counts leases that Refs have opened, and Refs of what is out open in a closed pool.
func TestCloseCountsLeasesOfRefs(t *testing.T) {
	p := open(t, Config{})
	l := acquire[byte](t, p, "key", 8)
	other := check.Ok(l.Ref().Get())(t)
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "2 leases out") {
		t.Errorf("Close says %v", err)
	}
	check.Must(t, check.Ok(other.Ref().Get())(t).Release(), l.Release(), other.Release())
	if n := p.leases.Load(); n != 0 {
		t.Errorf("%d leases are out", n)
	}
}

// What one lease has told of streams holds for the next owner after the last lease.
func TestStreamsOfLeasesOfRefs(t *testing.T) {
	d := sim.New(1 << 20)
	d.Late(1)
	below := check.Ok(slab.Open(d, slab.Config{}))(t)
	p := New[string](below, Config{})
	s := check.Ok(d.NewStream())(t)
	l := acquire[byte](t, p, "key", 64)
	other := check.Ok(l.Ref().Get())(t)
	check.Must(t, other.UsedOn(s), s.Fill(other.Block(), 9), other.Release())
	check.Wraps(t, other.UsedOn(s), ErrReleased)
	check.Must(t, l.Release())
	next := acquire[byte](t, p, "key", 64) // comes after the work
	got := make([]byte, 64)
	check.Must(t, d.Copy(device.Host(got), next.Block()))
	if got[0] != 9 || got[63] != 9 {
		t.Error("the next owner came before the work of the one that a Ref has opened")
	}
	check.Must(t, next.Release(), p.Close(), s.Close(), below.Close())
}

// While leases are released and keys have their next owners, others open Refs: each sees the marks of
// the lease that the Ref names, or none.
func TestLeaseRefsBesideReleases(t *testing.T) {
	for _, c := range []Config{{}, {Private: true}, {MaxBytes: 1 << 16}} {
		p := open(t, c)
		type letter struct {
			ref  Ref[uint64]
			mark uint64
		}
		var marks atomic.Uint64
		var opened atomic.Int64
		var writers, readers sync.WaitGroup
		box := make(chan letter, 8)
		for range 2 {
			writers.Go(func() {
				for i := range 300 {
					l, err := Acquire[uint64](context.Background(), p, "key", 16+i%3)
					if err != nil {
						t.Error(err)
						return
					}
					mark := marks.Add(1)
					for i := range l.Slice() {
						l.Slice()[i] = mark
					}
					box <- letter{l.Ref(), mark}
					if i%3 == 0 {
						runtime.Gosched()
					}
					if err := l.Release(); err != nil {
						t.Error(err)
					}
				}
			})
			readers.Go(func() {
				for x := range box {
					l, err := x.ref.Get()
					if err != nil {
						if err != ErrReleased {
							t.Error(err)
						}
						continue
					}
					opened.Add(1)
					if slices.ContainsFunc(l.Slice(), func(y uint64) bool { return y != x.mark }) {
						t.Errorf("the Ref of lease %d opens other elements", x.mark)
					}
					if err := l.Release(); err != nil {
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
		if err := p.Close(); err != nil || p.slab.Stats().ActiveBlocks != 0 {
			t.Errorf("%v, %+v", err, p.slab.Stats())
		}
	}
}

// A Get that found the lease just before the Release opens nothing.
func TestStaleShare(t *testing.T) {
	p := open(t, Config{})
	l := acquire[byte](t, p, "key", 8)
	check.Must(t, l.Release())
	check.Wraps(t, check.Err(l.share()), ErrReleased)
	if n := p.leases.Load(); n != 0 {
		t.Errorf("%d leases are out", n)
	}
}
