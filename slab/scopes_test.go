package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestScopesDoNotCountNothing(t *testing.T) {
	s := NewScopes(&fake{})
	if _, err := s.Alloc(0); err != nil {
		t.Fatal(err)
	}
	s.Free(device.Block{})
	s.Free(device.Block{})
	if s.Counts() != (Counts{}) {
		t.Errorf("counts %+v", s.Counts())
	}
}

func TestAScopeCountsFromZeroAndFoldsIntoTheOneAround(t *testing.T) {
	s := NewScopes(&fake{})
	a := mustAlloc(t, s, 100)
	s.Push()
	s.Free(mustAlloc(t, s, 40))
	s.Free(a)
	want := Counts{Allocs: 1, Frees: 2, Bytes: -100, PeakBytes: 40, AllocatedBytes: 40, Blocks: -1, PeakBlocks: 1}
	if got := s.Pop(); got != want {
		t.Errorf("inner scope %+v, want %+v", got, want)
	}
	want = Counts{Allocs: 2, Frees: 2, PeakBytes: 140, AllocatedBytes: 140, PeakBlocks: 2}
	if got := s.Counts(); got != want {
		t.Errorf("outer scope %+v, want %+v", got, want)
	}
}
