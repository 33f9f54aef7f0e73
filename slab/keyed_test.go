package slab

import "testing"

func TestExactReusesOnlyTheVerySameSize(t *testing.T) {
	up := &source{}
	s := holderOn("exact", up, Config{})
	a := mustAlloc(t, s, 100)
	s.Free(a)
	if b := mustAlloc(t, s, 99); b.Region == a.Region {
		t.Error("a block of 100 bytes served 99")
	}
	if b := mustAlloc(t, s, 100); b.Region != a.Region || up.Allocs != 2 {
		t.Error("a block of 100 bytes did not serve 100")
	}
}

func TestExactKeeps100BlocksAndNoneAbove1GiB(t *testing.T) {
	if maxAsk < 1<<30 {
		t.Skip("no block is so large where an int has 32 bits")
	}
	up := &source{}
	s := holderOn("exact", up, Config{})
	s.Free(mustAlloc(t, s, 1<<30))
	s.Free(mustAlloc(t, s, 1<<30+1))
	if u := s.Usage(); u.HeldBlocks != 1 || u.HeldBytes != 1<<30 {
		t.Errorf("usage %+v", u)
	}
	for size := range 200 {
		s.Free(mustAlloc(t, s, size+1))
	}
	if u := s.Usage(); u.HeldBlocks != 100 || u.HeldBytes != (101+200)*50 {
		t.Errorf("usage %+v", u)
	}
}

func TestExactGivesUpTheLongestHeldFirst(t *testing.T) {
	up := &source{Capacity: 1000}
	s := holderOn("exact", up, Config{})
	a, b := mustAlloc(t, s, 300), mustAlloc(t, s, 500)
	s.Free(a)
	s.Free(b)
	mustAlloc(t, s, 400)
	if u := s.Usage(); u.HeldBytes != 500 {
		t.Errorf("usage %+v, the block of 500 bytes was held for less time", u)
	}
}
