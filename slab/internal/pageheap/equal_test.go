package pageheap

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

const mib = 1 << 20

// onRange is a program on ranges that commit, without a record of their pages.
func onRange() (*program, *pages) {
	up := &pages{RangeBytes: maxInt}
	return start(up, Options{}), up
}

// fillEqual gets n blocks of size bytes.
func fillEqual(t *testing.T, p *program, n, size int) (live []device.Block) {
	t.Helper()
	for range n {
		live = append(live, p.mustAlloc(t, size))
	}
	return live
}

// Equal blocks take what they need whatever they are, and with the rule for all others, which was theirs, up to
// twice that.
func TestEqualBlocksGetWhatTheyNeed(t *testing.T) {
	worst := func(size int, known bool) (worst float64) {
		p, _ := onRange()
		for range 30 {
			if !known {
				p.policy.equals = equals{}
			}
			p.mustAlloc(t, size)
			if p.active > 2*int64(size) {
				worst = max(worst, float64(p.managed)/float64(p.active))
			}
		}
		return worst
	}
	sizes := []int{largeBlock, 2 * mib, 40_000_000, 100 * mib}
	if maxInt>>40 == 0 {
		sizes = sizes[:2] // addresses are few where an int has 32 bits
	}
	for _, size := range sizes {
		if got := worst(size, true); got > 1.05 {
			t.Errorf("blocks of %d bytes: %.3f of what is live", size, got)
		}
		if got := worst(size, false); got < 1.5 {
			t.Errorf("blocks of %d bytes by the budget: %.3f of what is live, so nothing was measured", size, got)
		}
	}
}

// From 32 equal blocks on one call is for several: a hundred take 60, a thousand 130.
func TestEqualBlocksShareCalls(t *testing.T) {
	p, up := onRange()
	for n := 1; n <= 1000; n++ {
		p.mustAlloc(t, mib)
		if n == 32 && up.Calls != 32 || n == 100 && up.Calls > 62 {
			t.Errorf("%d calls for %d blocks", up.Calls, n)
		}
		if most := p.active + p.active/largeShare; p.managed > most {
			t.Errorf("%d bytes managed for %d blocks, want at most %d", p.managed, n, most)
		}
	}
	if up.Calls > 135 || int64(up.Calls) != p.policy.beside+1 {
		t.Errorf("%d calls for a thousand blocks, all but the first counted: %d", up.Calls, p.policy.beside)
	}
}

// Sizes are equal if they differ by a 32nd at most, and small ones are never.
func TestEqualBlocksDifferByLittle(t *testing.T) {
	e := equals{size: 32 * mib}
	for size, want := range map[int]bool{31 * mib: true, 33 * mib: true, 31*mib - 1: false, 33*mib + 1: false} {
		if e.has(size) != want {
			t.Errorf("a block of %d bytes is one of 32 MiB: %t", size, !want)
		}
	}
	if e = (equals{size: largeBlock}); e.has(largeBlock - 1) {
		t.Errorf("a block of %d bytes is equal to another", largeBlock-1)
	}
}

// Blocks of another size are among equal ones while those have seven eighths of what is in use. Then the last
// ones that were asked for may be equal.
func TestEqualBlocksGiveWay(t *testing.T) {
	var e equals
	for used := range int64(14) {
		e.grew(mib, used*mib)
	}
	for used := int64(14); used <= 17; used++ {
		e.grew(5*mib, used*mib)
		if want := used > 16; (e.size != mib) != want {
			t.Errorf("14 of %d MiB are of equal blocks, and a block of 5 comes: they are of %d bytes", used, e.size)
		}
	}
	if e != (equals{5 * mib, 5 * mib, 5 * mib}) {
		t.Errorf("after one block of 5 MiB: %+v", e)
	}
}

// A single block has no equal: head-room for others is as it was.
func TestOneBlockIsNotEqual(t *testing.T) {
	p, _ := onRange()
	for blocks, want := range []bool{false, false, true} {
		if got := p.amongEquals(page); got != want {
			t.Errorf("a small block beside %d large ones is among equal ones: %t", blocks, got)
		}
		p.mustAlloc(t, mib)
	}
}

// A single block has no equal beside one of another size, also where it is a little larger than the first was.
func TestASingleBlockHasNoEqual(t *testing.T) {
	var e equals
	for _, size := range []int{mib, mib + mib/64} {
		e.grew(size, 0)
	}
	e.shrank(mib)
	if got := e.without(3 * mib); e.out != mib+mib/64 || got.out != 0 {
		t.Errorf("%d bytes are out, of which %d are of equals", e.out, got.out)
	}
}

// What other blocks get among equal ones is little, too, and a small one gets a first step.
func TestOthersGetLittleAmongEqualBlocks(t *testing.T) {
	for _, c := range []struct{ equal, of, size, want int }{
		{12, mib, page, 12*mib/largeShare + page},
		{2, largeBlock, page, firstStep + page},
		{12, mib, mib / 2, mib / 2},
		{64, mib, mib / 2, 5 * mib / 2},
	} {
		p, _ := onRange()
		fillEqual(t, p, c.equal, c.of)
		if n := p.index[free].bytes; n > 0 {
			p.mustAlloc(t, int(n))
		}
		before := p.managed
		p.mustAlloc(t, c.size)
		if got := int(p.managed - before); got != c.want {
			t.Errorf("%d bytes beside %d blocks of %d: the heap grew by %d, want %d", c.size, c.equal, c.of, got, c.want)
		}
	}
}

// A program that frees its blocks has no use for exact steps, until it has freed all.
func TestEqualBlocksAreKept(t *testing.T) {
	p, _ := onRange()
	live := fillEqual(t, p, 16, mib)
	for freed, want := range []bool{true, true, true, false} {
		if p.amongEquals(page) != want {
			t.Errorf("%d of 16 blocks are free: among equal ones is %t", freed, !want)
		}
		p.free(takeAt(&live, 0))
		live = append(live, p.mustAlloc(t, mib-page)) // it is another one of them
	}
	p.freeAll(live)
	if fillEqual(t, p, 2, mib); !p.amongEquals(page) {
		t.Error("two blocks of a program that has freed all others are not equal ones")
	}
}

// Calls for equal blocks, but for the first, leave others the early ones; without that they have none.
func TestEqualCallsAreBesideTheEarlyOnes(t *testing.T) {
	p, up := onRange()
	fillEqual(t, p, 12, mib)
	if got := p.policy.budget(); up.Calls != 12 || got != freeCalls-1 {
		t.Errorf("a budget of %v after %d calls", got, up.Calls)
	}
	p.policy.beside = 0
	if got := p.policy.budget(); got != freeCalls-12 {
		t.Errorf("a budget of %v if they count", got)
	}
}

// What went upstream comes again within the budget, and up to the old peak.
func TestEqualBlocksComeAgain(t *testing.T) {
	p, up := onRange()
	const rounds = 10
	for range rounds {
		live := fillEqual(t, p, 12, mib)
		if p.managed != 12*mib {
			t.Errorf("%d bytes managed for 12 blocks", p.managed)
		}
		p.freeAll(live)
		p.FreeHeld()
	}
	if p.policy.beside != 11 || p.policy.high != 12*mib || up.Calls > 7*rounds {
		t.Errorf("%d calls, %d for a new peak of %d bytes", up.Calls, p.policy.beside, p.policy.high)
	}
}

// Where pages get memory when they are used there is no head-room, and no call is for equal blocks.
func TestEqualBlocksOfLazyRangesTakeNoCalls(t *testing.T) {
	up := &pages{RangeBytes: 64 * mib, Ahead: 4 * mib}
	p := start(up, Options{})
	fillEqual(t, p, 12, mib)
	if p.policy.beside != 0 || p.managed != 12*mib {
		t.Errorf("%d calls for equal blocks, %d bytes managed", p.policy.beside, p.managed)
	}
}

// Blocks of the least size that can be equal are, until they are free.
func TestEqualBlocksOfTheLeastSize(t *testing.T) {
	g := growthPolicy{}
	g.grew(largeBlock, 0)
	if g.equals.out != largeBlock {
		t.Errorf("%+v with a block out", g.equals)
	}
	if g.shrank(largeBlock); g.equals.out != 0 {
		t.Errorf("%+v with none", g.equals)
	}
}
