package upstream

import (
	"errors"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// All memory is seen just before it goes, whichever way it goes.
func TestOnLeaveSeesAllMemory(t *testing.T) {
	var seen []device.Block
	watch := func(a *Accounting) { a.OnLeave(func(b device.Block) { seen = append(seen, b) }) }
	a, _ := account(&upstreamtest.Source{}, true)
	watch(a)
	b, err := a.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := a.Alloc(200)
	a.Free(b)
	a.GiveUp(c, 200)
	want := []device.Block{b, c}

	a, _ = account(&upstreamtest.Pages{}, true)
	watch(a)
	r, err := a.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Commit(0, 2*r.Page()), r.Decommit(r.Page(), r.Page()), r.Close()); err != nil {
		t.Fatal(err)
	}
	want = append(want, device.Block{Region: r.Region(), Off: r.Page(), Len: r.Page()},
		device.Block{Region: r.Region(), Len: r.Region().Size()})
	if !slices.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
}

// What is given up is not managed any more. Its region has left when all of it was.
func TestGiveUpIsNotManaged(t *testing.T) {
	a, l := account(&upstreamtest.Source{}, true)
	b, err := a.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	part := device.Block{Region: b.Region, Len: 40}
	if !a.GiveUp(part, 40) || a.Managed() != 60 || len(l.regions) != 0 {
		t.Errorf("%d bytes managed, %v left", a.Managed(), l.regions)
	}
	if !a.GiveUp(b, 60) || a.Managed() != 0 || !slices.Equal(l.regions, []device.Region{b.Region}) {
		t.Errorf("%d bytes managed, %v left", a.Managed(), l.regions)
	}
	c, _ := a.Alloc(100)
	c.Region.(*upstreamtest.Region).Refuse = errors.New("refused")
	if a.GiveUp(c, 100) || a.Managed() != 100 || a.Frees() != 0 {
		t.Errorf("%v after a refusal", figures(a))
	}
}

// A range that never had memory gives none back.
func TestCloseOfAnEmptyRangeIsNoFree(t *testing.T) {
	a, _ := account(&upstreamtest.Pages{}, true)
	r, err := a.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil || a.Frees() != 0 {
		t.Errorf("%v, %v", err, figures(a))
	}
}

// Each block of a list goes, and nothing is kept.
func TestFreeAllFreesAll(t *testing.T) {
	for n := range 3 {
		s := &upstreamtest.Source{}
		c := Check(s, true, 1)
		var list []device.Block
		for range n {
			b, err := c.Alloc(10)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, b)
		}
		c.FreeAll(list, func(left []device.Block) { t.Errorf("%d of %d blocks are kept", len(left), n) })
		if s.Frees != n {
			t.Errorf("%d of %d blocks are freed", s.Frees, n)
		}
	}
}

// Where the source panics, what is left is kept, and the block that it would not take too.
func TestFreeAllKeepsWhatIsLeft(t *testing.T) {
	s := &upstreamtest.Source{}
	c := Check(s, true, 1)
	var list []device.Block
	for range 4 {
		b, err := c.Alloc(10)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	c.Free(list[2]) // so that it is not out
	var kept []device.Block
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		c.FreeAll(list, func(left []device.Block) { kept = left })
	}()
	if !slices.Equal(kept, list[2:]) {
		t.Errorf("%v kept, want %v", kept, list[2:])
	}
}
