package pageheap

import (
	"errors"
	"math"
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestWhollyFreeSegmentsGoBackWhenAsked(t *testing.T) {
	up := &source{}
	p := start(up, Options{MissTarget: 1})
	x, y := p.mustAlloc(t, 1<<20), p.mustAlloc(t, 8<<20)
	small := p.mustAlloc(t, 100)
	p.free(x)
	p.free(y)
	p.FreeHeld()
	if up.Allocs-up.Frees != 1 || p.managed != up.Bytes {
		t.Errorf("%d segments of %d bytes left for one block", up.Allocs-up.Frees, up.Bytes)
	}
	p.free(small)
	if p.FreeHeld(); up.Bytes != 0 {
		t.Errorf("%d bytes left", up.Bytes)
	}
}

// Before the pool passes its old peak, segments that are too small go back.
func TestSegmentsGoBackBeforeANewPeak(t *testing.T) {
	up := &source{}
	p := start(up, Options{MissTarget: 1})
	var live []device.Block
	for range 8 {
		live = append(live, p.mustAlloc(t, 1<<20))
	}
	p.freeAll(live)
	was := up.Bytes
	p.mustAlloc(t, int(was)-page)
	if up.Bytes > was+page || up.Frees == 0 {
		t.Errorf("%d bytes after %d: %d frees", up.Bytes, was, up.Frees)
	}
}

// The ladder of out of memory: want less, give back what is held, fail.
func TestTheLadderOfOutOfMemory(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		up := &pages{Source: source{Capacity: 10 * page}}
		p := start(on(up, fixed), Options{})
		one := p.mustAlloc(t, 6*page) // wants 12 pages as a segment
		two := p.mustAlloc(t, 2*page)
		p.free(one)
		if up.Bytes > 10*page {
			t.Fatalf("%d bytes", up.Bytes)
		}
		want := 7 * page // only once the six are given back
		if fixed {
			want = 6 * page // as two's segment took what was left
		}
		three := p.mustAlloc(t, want)
		active, used := p.active, p.managed-p.excess-p.index[free].bytes
		if _, err := p.alloc(4 * page); !errors.Is(err, device.ErrOutOfMemory) {
			t.Fatal(err)
		}
		if now := p.managed - p.excess - p.index[free].bytes; p.active != active || now != used {
			t.Errorf("%d bytes are active and %d used, before %d and %d", p.active, now, active, used)
		}
		p.mustCheck(t, &up.Source)
		p.free(two)
		p.free(three)
		p.mustAlloc(t, 10*page)
		p.mustCheck(t, &up.Source)
	}
}

// Pages that are free one by one, none of them worth a call before a peak, go back where
// there is no room else.
func TestScatteredPagesMakeRoom(t *testing.T) {
	up := &pages{Source: source{Capacity: 20 * page}}
	p := start(up, Options{})
	live := fill(t, p, 20)
	for i := 0; i < 20; i += 2 {
		p.free(live[i])
	}
	p.mustAlloc(t, 10*page)
	p.mustCheck(t, &up.Source)
}

// Who waited for another goroutine's growth, and finds that it has room, asks for no more.
func TestGrowthThatAnotherHasMadeIsEnough(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	p.free(p.mustAlloc(t, page))
	calls := up.Calls
	if err := p.grow(page); err != nil || up.Calls != calls {
		t.Errorf("%v, %d calls", err, up.Calls-calls)
	}
}

// Before it fails, a heap asks for the block and not for a page more.
func TestTheLastAttemptIsForTheBlockAlone(t *testing.T) {
	up := &source{Capacity: 2*page + 160}
	p := start(up, Options{})
	p.mustAlloc(t, page+80)
	p.mustAlloc(t, page+80)
	if up.Bytes != up.Capacity {
		t.Errorf("%d bytes of %d", up.Bytes, up.Capacity)
	}
	p.mustCheck(t, up)
}

// What is held after a first Alloc and after a Free is MaxHeld, and parts of pages beside active blocks.
func TestHeapHoldsAtMostMaxHeld(t *testing.T) {
	for _, c := range []Options{{MaxHeld: 20 * page}, {MaxHeld: -1}} {
		up := &pages{}
		p := start(up, c)
		live := []device.Block{p.mustAlloc(t, page)}
		if n := p.index[free].bytes; n > max(0, c.MaxHeld) {
			t.Fatalf("%d bytes held of %d, beside a page", n, c.MaxHeld)
		}
		live = append(live, fill(t, p, 200)...)
		for i := 0; i < 200; i += 2 {
			p.free(live[i])
			if n := p.index[free].bytes; n > max(0, c.MaxHeld) {
				t.Fatalf("%d bytes held of %d", n, c.MaxHeld)
			}
		}
		p.mustCheck(t, &up.Source)
	}
}

func TestSegmentsHoldAtMostMaxHeldBesideActiveBlocks(t *testing.T) {
	up := &source{}
	p := start(up, Options{MaxHeld: 4 << 20, MissTarget: 1})
	var live []device.Block
	for range 20 {
		live = append(live, p.mustAlloc(t, 1<<20))
	}
	p.freeAll(live)
	if c := p.Counts(); c.FreeBytes > 4<<20 || c.ManagedBytes != up.Bytes {
		t.Errorf("counts %+v", c)
	}
}

func TestRegionsLargerThanAskedAreUnusable(t *testing.T) {
	up := &source{Round: 1 << 20}
	p := start(up, Options{})
	blk := p.mustAlloc(t, 100)
	c := p.Counts()
	if c.ExcessBytes == 0 || c.ManagedBytes != up.Bytes || c.ManagedBytes != 1<<20 {
		t.Errorf("counts %+v of %d bytes", c, up.Bytes)
	}
	p.free(blk)
	p.FreeHeld()
	if c := p.Counts(); c != (Counts{}) {
		t.Errorf("counts %+v of nothing", c)
	}
}

// Nothing has been idle for as many epochs as no counter reaches.
func TestTrimOfVeryManyEpochsGivesNothingBack(t *testing.T) {
	up := &pages{}
	p := start(up, Options{})
	live := fill(t, p, 4)
	p.free(live[1])
	had := up.Bytes
	for _, idle := range []int{math.MaxInt, math.MaxInt32, max(math.MaxInt&^math.MaxUint32, 1<<30)} {
		if n := p.Trim(idle); n != 0 || up.Bytes != had {
			t.Errorf("Trim(%d): %d bytes went", idle, n)
		}
	}
}

// Where nothing else is left, what is free deep in a list serves.
func TestTheLastResortIsDeepInAList(t *testing.T) {
	const n, others = 1025 * 16, 100
	up := &source{Capacity: n + others*(n-16) + (others+1)*16}
	p := start(up, Options{})
	if err := p.Prefill(int(up.Capacity)); err != nil {
		t.Fatal(err)
	}
	live := []device.Block{p.mustAlloc(t, n)}
	for range others {
		p.mustAlloc(t, 16)
		live = append(live, p.mustAlloc(t, n-16))
	}
	p.mustAlloc(t, 16)
	p.freeAll(live)
	if b, err := p.alloc(n); err != nil || b != live[0] {
		t.Errorf("%+v, %v, want %+v", b, err, live[0])
	}
	p.mustCheck(t, up)
}

// Without anything to give back two calls fail: for a step, and for what is needed.
func TestAFailureTakesTwoCalls(t *testing.T) {
	for _, segments := range []bool{true, false} {
		up := &pages{Source: source{Capacity: page}}
		p := start(on(up, segments), Options{})
		if _, err := p.alloc(2 * page); err == nil || up.Refused != 2 {
			t.Errorf("%v after %d calls", err, up.Refused)
		}
	}
}

// More is held than may be from the first byte beyond on.
func TestOverHeld(t *testing.T) {
	p := start(&pages{}, Options{MaxHeld: 2 * page})
	if err := p.Prefill(3 * page); err != nil {
		t.Fatal(err)
	}
	if !p.OverHeld() {
		t.Error("3 pages are free, and 2 may be")
	}
	if p.mustAlloc(t, page); p.OverHeld() {
		t.Error("2 pages are free, as may be")
	}
}
