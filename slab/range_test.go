package slab

import (
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// fakeReserver is a fake that can reserve. Its ranges count as its bytes.
type fakeReserver struct{ fake }

func (f *fakeReserver) Reserve(size int) (device.Range, error) {
	return &fakeRange{f: &f.fake, region: &fakeRegion{size: size}}, nil
}

// fakeRange fails when its upstream is to fail or has no capacity.
type fakeRange struct {
	f         *fake
	region    *fakeRegion
	committed int64
}

var errDecommit = errors.New("not this time")

func (r *fakeRange) Region() device.Region { return r.region }
func (r *fakeRange) Page() int             { return 1 }

func (r *fakeRange) Commit(off, n int) error {
	r.f.calls++
	if r.f.calls == r.f.failAt || r.f.capacity > 0 && r.f.bytes+int64(n) > r.f.capacity {
		return device.ErrOutOfMemory
	}
	r.f.bytes += int64(n)
	r.committed += int64(n)
	return nil
}

func (r *fakeRange) Decommit(off, n int) error {
	if n > int(r.committed) {
		return errDecommit
	}
	r.f.bytes -= int64(n)
	r.committed -= int64(n)
	return nil
}

func (r *fakeRange) Close() error { return r.Decommit(0, int(r.committed)) }

// wrapper is what all wrappers are.
type wrapper interface {
	Allocator
	device.Reserver
}

var wrappers = map[string]func(Allocator) wrapper{
	"limit":  func(u Allocator) wrapper { return NewLimit(u, 1<<20) },
	"scopes": func(u Allocator) wrapper { return NewScopes(u) },
	"record": func(u Allocator) wrapper { return NewRecord(u, io.Discard) },
	"check":  func(u Allocator) wrapper { return NewCheck(u) },
}

func TestWrappersPassReserveOn(t *testing.T) {
	for name, wrap := range wrappers {
		if _, err := wrap(&fake{}).Reserve(100); !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("%s of an upstream that cannot reserve: %v", name, err)
		}
		up := &fakeReserver{}
		r, err := wrap(up).Reserve(100)
		if err != nil || r.Region().Size() != 100 {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.Commit(0, 60); err != nil || up.bytes != 60 {
			t.Errorf("%s: %v, %d bytes committed", name, err, up.bytes)
		}
		if err := r.Close(); err != nil || up.bytes != 0 {
			t.Errorf("%s: %v, %d bytes committed", name, err, up.bytes)
		}
	}
}

func TestWrappersKeepTheContractOfAllocator(t *testing.T) {
	for name, wrap := range wrappers {
		up := &fake{}
		w := wrap(up)
		if b, err := w.Alloc(0); b != (device.Block{}) || err != nil {
			t.Errorf("%s: Alloc(0) = %v, %v", name, b, err)
		}
		w.Free(device.Block{})
		b := mustAlloc(t, w, 1000)
		if b.Len != 1000 {
			t.Errorf("%s: %d bytes for 1000", name, b.Len)
		}
		w.Free(b)
		if up.bytes != 0 || up.allocs != up.frees {
			t.Errorf("%s: %d bytes left in %d blocks", name, up.bytes, up.allocs-up.frees)
		}
		func() {
			defer func() { recover() }()
			w.Free(b)
			t.Errorf("%s: a second Free did not panic", name)
		}()
		w.Free(mustAlloc(t, w, 10)) // it still works
	}
}

func TestLimitCountsWhatIsCommitted(t *testing.T) {
	up := &fakeReserver{}
	l := NewLimit(up, 100)
	r, err := l.Reserve(1000)
	if err != nil || l.InUse() != 0 {
		t.Fatal(err, l.InUse())
	}
	steps := []struct {
		do   func() error
		err  error
		want int64
	}{
		{func() error { return r.Commit(0, 60) }, nil, 60},
		{func() error { return r.Commit(60, 50) }, device.ErrOutOfMemory, 60},
		{func() error { return r.Decommit(0, 20) }, nil, 40},
		{func() error { return r.Decommit(0, 41) }, errDecommit, 40},
		{func() error { return r.Commit(0, 60) }, nil, 100},
		{func() error { return r.Close() }, nil, 0},
		{func() error { return r.Close() }, nil, 0},
	}
	for i, s := range steps {
		if err := s.do(); !errors.Is(err, s.err) || l.InUse() != s.want || up.bytes != s.want {
			t.Errorf("step %d: %v, %d in use, %d upstream, want %d", i, err, l.InUse(), up.bytes, s.want)
		}
	}
}

func TestLimitRollsBackWhenACommitFails(t *testing.T) {
	up := &fakeReserver{fake{failAt: 1}}
	l := NewLimit(up, 100)
	r, err := l.Reserve(100)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(0, 60); !errors.Is(err, device.ErrOutOfMemory) || l.InUse() != 0 {
		t.Errorf("%v, %d in use", err, l.InUse())
	}
}

func TestLimitSurvivesEveryFailureOfTheUpstream(t *testing.T) {
	for k, calls := 1, 1; k <= calls; k++ {
		up := &fake{failAt: k, round: 16}
		l := NewLimit(fakeDevice{fake: up}, 20_000)
		r := rand.New(rand.NewPCG(5, 6))
		var live []device.Block
		for range 1000 {
			before := l.InUse()
			if len(live) > 0 && r.IntN(2) == 0 {
				l.Free(live[0])
				live = live[1:]
			} else if b, err := l.Alloc(1 + r.IntN(3000)); err == nil {
				live = append(live, b)
			} else if !errors.Is(err, device.ErrOutOfMemory) || l.InUse() != before {
				t.Fatalf("%v, %d in use, %d before", err, l.InUse(), before)
			}
			if l.InUse() != up.bytes || up.bytes > int64(20_000) {
				t.Fatalf("%d in use of %d, upstream has %d", l.InUse(), int64(20_000), up.bytes)
			}
		}
		calls = up.calls
	}
}
