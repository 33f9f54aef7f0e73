package upstream

import (
	"errors"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// left records regions that leave, and the bytes that were managed then.
type left struct {
	a       *Accounting
	regions []device.Region
	managed []int64
	stayed  int
}

func (l *left) leaving(r device.Region) (stays func()) {
	l.regions = append(l.regions, r)
	l.managed = append(l.managed, l.a.Managed())
	return func() { l.stayed++ }
}

func account(up device.Allocator, regions bool) (*Accounting, *left) {
	l := &left{}
	l.a = NewAccounting(Check(up, regions, 16), l.leaving)
	return l.a, l
}

// figures are managed bytes, their peak, allocs and frees.
func figures(a *Accounting) [4]int64 {
	return [4]int64{a.Managed(), a.Peak(), a.Allocs(), a.Frees()}
}

func TestAccountingCountsFootprints(t *testing.T) {
	r := upstreamtest.NewRegion(4096)
	s := &upstreamtest.Fixed{Block: device.Block{Region: r, Len: 100}}
	a, l := account(s, true)
	b, err := a.Checked().Alloc(100)
	if want := [4]int64{4096, 4096, 1, 0}; err != nil || figures(a) != want {
		t.Errorf("%v, %v", err, figures(a))
	}
	a.Free(b)
	if want := [4]int64{0, 4096, 1, 1}; figures(a) != want || s.Frees != 1 {
		t.Errorf("%v", figures(a))
	}
	if !slices.Equal(l.regions, []device.Region{r}) || l.managed[0] != 4096 {
		t.Errorf("%v left with %v bytes managed", l.regions, l.managed)
	}
	s.Err = device.ErrOutOfMemory
	if _, err := a.Alloc(100); !OutOfMemory(err) || a.Allocs() != 1 || a.Managed() != 0 {
		t.Errorf("%v, %v", err, figures(a))
	}
}

// A peak is the most since it was reset, whether of what is managed or of what it was told.
func TestAPeakIsSinceItWasReset(t *testing.T) {
	a, _ := account(&upstreamtest.Source{}, false)
	big, _ := a.Alloc(100)
	small, _ := a.Alloc(1)
	a.Free(big)
	if want := [4]int64{1, 101, 2, 1}; figures(a) != want {
		t.Errorf("%v, want %v", figures(a), want)
	}
	a.ResetPeak()
	if want := [4]int64{1, 1, 2, 1}; figures(a) != want || a.Drawn() != 101 {
		t.Errorf("after a reset %v, %d bytes drawn", figures(a), a.Drawn())
	}
	a.RaisePeak(50)
	a.RaisePeak(40)
	a.Free(small)
	if want := [4]int64{0, 50, 2, 2}; figures(a) != want || a.Drawn() != 101 {
		t.Errorf("after a raise %v, %d bytes drawn", figures(a), a.Drawn())
	}
	if a.ResetPeak(); a.Peak() != 0 {
		t.Errorf("a peak of %d with nothing managed", a.Peak())
	}
}

func TestWhatDrawsOnAnAccountingVerifiesNothingAgain(t *testing.T) {
	r := upstreamtest.NewRegion(100)
	a, _ := account(&upstreamtest.Fixed{Block: device.Block{Region: r, Len: 100}}, false)
	if c := a.Checked(); c.OwnsRegions() {
		t.Error("regions are their blocks' own")
	} else if _, err := c.Alloc(100); err != nil || r.Measured.Load() != 1 {
		t.Errorf("%v, verified %d times", err, r.Measured.Load())
	}
}

// A Commit of what is ready is no call.
func TestAccountingCountsCalls(t *testing.T) {
	s := &upstreamtest.Pages{Ahead: 8192}
	a, _ := account(s, true)
	r, err := a.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{1, 1, 1, 2} {
		if err := r.Commit(4096*i, 4096); err != nil || a.Allocs() != want || a.Managed() != int64(i+1)*4096 {
			t.Errorf("page %d: %d calls, %d bytes, %v", i, a.Allocs(), a.Managed(), err)
		}
	}
	if n := Ready(r); n != 6*4096 {
		t.Errorf("%d bytes are ready", n)
	}
	s.Ahead = 0
	if n := Ready(r); n >= 0 {
		t.Errorf("%d bytes of a range that is not lazy are ready", n)
	}
}

func TestAccountingCountsWhatIsCommitted(t *testing.T) {
	failed := errors.New("failed")
	s := &upstreamtest.Pages{}
	a, l := account(s, true)
	r, err := a.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		do   func() error
		err  error
		want [4]int64
	}{
		{func() error { return r.Commit(0, 8192) }, nil, [4]int64{8192, 8192, 1, 0}},
		{func() error { return r.Commit(8192, 4096) }, failed, [4]int64{8192, 8192, 1, 0}},
		{func() error { return r.Decommit(0, 4096) }, failed, [4]int64{8192, 8192, 1, 0}},
		{func() error { return r.Decommit(0, 4096) }, nil, [4]int64{4096, 8192, 1, 1}},
		{r.Close, failed, [4]int64{4096, 8192, 1, 1}},
		{r.Close, nil, [4]int64{0, 8192, 1, 2}},
		{r.Close, upstreamtest.ErrClosed, [4]int64{0, 8192, 1, 2}},
	} {
		if s.Fail = nil; step.err == failed {
			s.Fail = failed
		}
		if err := step.do(); err != step.err || figures(a) != step.want {
			t.Errorf("step %d: %v, %v, want %v", i, err, figures(a), step.want)
		}
	}
	if len(l.regions) != 3 || l.regions[0] != r.Region() || l.stayed != 2 { // of three Closes one went well
		t.Errorf("%v left, %d stayed", l.regions, l.stayed)
	}
}

// To commit bytes that are committed already takes nothing, and to give back others gives nothing.
func TestAccountingCountsBytesOfARangeOnce(t *testing.T) {
	d, err := device.Open("virtual")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := account(d, true)
	r, err := a.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		do     func(off, n int) error
		off, n int
		want   int64
	}{
		{r.Commit, 0, 1, 1}, {r.Commit, 0, 3, 3}, {r.Commit, 1, 1, 3}, {r.Commit, 5, 0, 3},
		{r.Decommit, 2, 10, 2}, {r.Decommit, 2, 10, 2}, {r.Commit, 9, 1, 3}, {r.Decommit, 1, 9, 1},
	} {
		if err := step.do(step.off*4096, step.n*4096); err != nil || a.Managed() != step.want*4096 {
			t.Errorf("step %d: %v, %d bytes, want %d pages", i, err, a.Managed(), step.want)
		}
	}
	if err := r.Close(); err != nil || a.Managed() != 0 {
		t.Errorf("%v, %d bytes", err, a.Managed())
	}
}
