package wrap_test

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/wrap"
)

func TestScopesDoNotCountNothing(t *testing.T) {
	s := wrap.NewStatistics(&source{})
	if _, err := s.Alloc(0); err != nil {
		t.Fatal(err)
	}
	s.Free(device.Block{})
	s.Free(device.Block{})
	if s.Counts() != (slab.Counts{}) {
		t.Errorf("counts %+v", s.Counts())
	}
}

func TestAScopeCountsFromZeroAndFoldsIntoTheOneAround(t *testing.T) {
	s := wrap.NewStatistics(&source{})
	a := mustAlloc(t, s, 100)
	s.Push()
	s.Free(mustAlloc(t, s, 40))
	s.Free(a)
	want := slab.Counts{Allocs: 1, Frees: 2, Bytes: -100, PeakBytes: 40, AllocatedBytes: 40, Blocks: -1, PeakBlocks: 1}
	if got := s.Pop(); got != want {
		t.Errorf("inner scope %+v, want %+v", got, want)
	}
	want = slab.Counts{Allocs: 2, Frees: 2, PeakBytes: 140, AllocatedBytes: 140, PeakBlocks: 2}
	if got := s.Counts(); got != want {
		t.Errorf("outer scope %+v, want %+v", got, want)
	}
}

// A handingOver hands the place of a block out again before its Free returns, as another
// goroutine can have it.
type handingOver struct {
	slab.Allocator
	freed func()
}

func (h *handingOver) Free(b device.Block) {
	h.Allocator.Free(b)
	h.freed()
}

// Of a Limit of one block there are never two out.
func TestScopesHaveNoPeakThatNeverWas(t *testing.T) {
	up := &handingOver{Allocator: slab.NewLimit(&source{}, 100), freed: func() {}}
	s := wrap.NewStatistics(up)
	b := mustAlloc(t, s, 100)
	up.freed = func() { b = mustAlloc(t, s, 100) }
	s.Free(b)
	up.freed = func() {}
	s.Free(b)
	want := slab.Counts{Allocs: 2, Frees: 2, PeakBytes: 100, AllocatedBytes: 200, PeakBlocks: 1}
	if got := s.Counts(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
