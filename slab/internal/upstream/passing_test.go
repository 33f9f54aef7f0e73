package upstream

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// An asking upstream asks in each call whether something passes, and whether what goes back is
// managed still: another could have it before it is counted off.
type asking struct {
	upstreamtest.Pages
	t     *testing.T
	a     *Accounting
	calls int
}

func (s *asking) ask() {
	s.calls++
	if !s.a.Passing() {
		s.t.Errorf("nothing passes in call %d", s.calls)
	}
}

func (s *asking) askOff(n int) {
	s.ask()
	if m := s.a.Managed(); m != s.Bytes-int64(n) {
		s.t.Errorf("%d bytes managed of %d as %d go back", m, s.Bytes, n)
	}
}

func (s *asking) Alloc(size int) (device.Block, error) {
	s.ask()
	return s.Pages.Alloc(size)
}

func (s *asking) Free(b device.Block) {
	s.askOff(b.Len)
	s.Pages.Free(b)
}

func (s *asking) GiveUp(b device.Block, n int64) bool {
	s.askOff(int(n))
	return s.Pages.GiveUp(b, n)
}

func (s *asking) Reserve(size int) (device.Range, error) {
	r, err := s.Pages.Reserve(size)
	return &askingRange{r, s}, err
}

type askingRange struct {
	device.Range
	of *asking
}

func (r *askingRange) Commit(off, n int) error {
	r.of.ask()
	return r.Range.Commit(off, n)
}

func (r *askingRange) Decommit(off, n int) error {
	r.of.askOff(n)
	return r.Range.Decommit(off, n)
}

func (r *askingRange) Close() error {
	r.of.ask()
	return r.Range.Close()
}

// A call passes until upstream has returned, whatever it does.
func TestPassing(t *testing.T) {
	s := &asking{t: t}
	s.a, _ = account(s, false)
	b, err := s.a.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	s.a.Free(b)
	r, err := s.a.Reserve(4 * upstreamtest.Page)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{
		func() error { return r.Commit(0, upstreamtest.Page) },
		func() error { return r.Decommit(0, upstreamtest.Page) },
		r.Close,
	} {
		if err := f(); err != nil {
			t.Error(err)
		}
	}
	if b, err = s.a.Alloc(100); err != nil || !s.a.GiveUp(b, 100) {
		t.Error(err)
	}
	s.FailAt, s.Panic = s.Calls+1, true
	func() {
		defer func() { _ = recover() }()
		_, _ = s.a.Alloc(100)
	}()
	if s.a.Passing() || s.calls != 8 {
		t.Errorf("%d calls, and one still passes: %v", s.calls, s.a.Passing())
	}
}
