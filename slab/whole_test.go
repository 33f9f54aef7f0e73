package slab

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// testStrategy is what direct, exact and bitlog have in common.
type testStrategy interface {
	Allocator
	User
}

var binnedStrategies = map[string]func(Allocator, Config) testStrategy{
	"direct": func(u Allocator, c Config) testStrategy { return NewDirect(u, c) },
	"exact":  func(u Allocator, c Config) testStrategy { return NewExact(u, c) },
	"bitlog": func(u Allocator, c Config) testStrategy { return NewBitlog(u, c) },
}

func eachStrategy(t *testing.T, f func(t *testing.T, open func(Allocator, Config) testStrategy)) {
	for name, open := range binnedStrategies {
		t.Run(name, func(t *testing.T) { f(t, open) })
	}
}

func mustAlloc(t testing.TB, a Allocator, size int) device.Block {
	t.Helper()
	b, err := a.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAllocReturnsExactlyTheLengthAsked(t *testing.T) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		s := open(&fake{}, Config{})
		for _, size := range []int{1, 2, 3, 1000, 1023, 1024, min(1<<30, maxAsk)} {
			if b := mustAlloc(t, s, size); b.Len != size || b.Region.Size() < size {
				t.Errorf("%d bytes asked: %v", size, b)
			}
		}
	})
}

func TestAllocOfNothingIsTheZeroBlock(t *testing.T) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		up := &fake{}
		s := open(up, Config{})
		if b, err := s.Alloc(0); b != (device.Block{}) || err != nil {
			t.Errorf("Alloc(0) = %v, %v", b, err)
		}
		s.Free(device.Block{})
		if up.calls != 0 || up.frees != 0 {
			t.Errorf("%d calls upstream for nothing", up.calls)
		}
	})
}

func TestNegativeSizesAreRefused(t *testing.T) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		up := &fake{}
		s := open(up, Config{})
		for _, size := range []int{-1, math.MinInt} {
			if _, err := s.Alloc(size); !errors.Is(err, ErrSize) || up.calls != 0 {
				t.Errorf("Alloc(%d): %v after %d calls upstream", size, err, up.calls)
			}
		}
	})
}

func TestFreeOfWhatIsNotOutPanicsAndChangesNothing(t *testing.T) {
	eachKeeper(t, func(t *testing.T, up *fake, s testKeeper) {
		b := mustAlloc(t, s, 1000)
		gone := mustAlloc(t, s, 512)
		s.Free(gone)
		before := s.Usage()
		wantPanic(t, "slab: Free of a block that is not out, 512 bytes at offset 0", func() { s.Free(gone) })
		wantPanic(t, "slab: Free of a block that is not out, 7 bytes at offset 0", func() { s.Free(block(7)) })
		wantPanic(t, "slab: Free of a block that is not out, 999 bytes at offset 0", func() { s.Free(device.Block{Region: b.Region, Len: 999}) })
		wantPanic(t, "slab: Free of a block that is not out, 1000 bytes at offset 1", func() { s.Free(device.Block{Region: b.Region, Off: 1, Len: 1000}) })
		if s.Usage() != before {
			t.Errorf("usage %+v, before %+v", s.Usage(), before)
		}
		s.Free(b)
		checkUsage(t, s, up)
	})
}

func TestErrorsOfTheUpstreamPassThrough(t *testing.T) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		lost := errors.New("lost")
		up := &fake{failAt: 2, failWith: lost}
		s := open(up, Config{})
		s.Free(mustAlloc(t, s, 100))
		before := s.Usage()
		if _, err := s.Alloc(1 << 20); err != lost || s.Usage() != before {
			t.Errorf("error %v, usage %+v, before %+v", err, s.Usage(), before)
		}
	})
}

// broken is an upstream that returns b, whatever is asked.
type broken struct {
	b     device.Block
	freed int
}

func (u *broken) Alloc(int) (device.Block, error) { return u.b, nil }
func (u *broken) Free(device.Block)               { u.freed++ }

func TestMemoryAgainstTheContractIsGivenBack(t *testing.T) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		r := &fakeRegion{size: 1023}
		for _, u := range []*broken{
			{device.Block{Len: 1023}, 1},                     // no region, nothing to give back
			{device.Block{Region: r, Len: 999}, 0},           // short
			{device.Block{Region: r, Off: 1, Len: 1023}, 0},  // beyond its region
			{device.Block{Region: r, Off: -1, Len: 1023}, 0}, // before it
			{device.Block{Region: r, Len: 1 << 20}, 0},       // long
		} {
			s := open(u, Config{})
			if _, err := s.Alloc(1023); !errors.Is(err, ErrUpstream) || u.freed != 1 || s.Usage() != (Usage{}) {
				t.Errorf("%v: %v, %d freed, usage %+v", u.b, err, u.freed, s.Usage())
			}
		}
	})
}

func TestExactReusesOnlyTheVerySameSize(t *testing.T) {
	up := &fake{}
	s := NewExact(up, Config{})
	a := mustAlloc(t, s, 100)
	s.Free(a)
	if b := mustAlloc(t, s, 99); b.Region == a.Region {
		t.Error("a block of 100 bytes served 99")
	}
	if b := mustAlloc(t, s, 100); b.Region != a.Region || up.allocs != 2 {
		t.Error("a block of 100 bytes did not serve 100")
	}
}

func TestExactKeeps100BlocksAndNoneAbove1GiB(t *testing.T) {
	if maxAsk < 1<<30 {
		t.Skip("no block is so large where an int has 32 bits")
	}
	up := &fake{}
	s := NewExact(up, Config{})
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
	up := &fake{capacity: 1000}
	s := NewExact(up, Config{})
	a, b := mustAlloc(t, s, 300), mustAlloc(t, s, 500)
	s.Free(a)
	s.Free(b)
	mustAlloc(t, s, 400)
	if u := s.Usage(); u.HeldBytes != 500 {
		t.Errorf("usage %+v, the block of 500 bytes was held for less time", u)
	}
}

func TestDirectKeepsNothing(t *testing.T) {
	up := &fake{}
	s := NewDirect(up, Config{})
	s.Free(mustAlloc(t, s, 100))
	if s.Usage() != (Usage{}) || up.frees != 1 {
		t.Errorf("usage %+v, %d frees upstream", s.Usage(), up.frees)
	}
}

func TestUsageSplitsManagedBytes(t *testing.T) {
	s := NewBitlog(&fake{}, Config{})
	mustAlloc(t, s, 1000)
	s.Free(mustAlloc(t, s, 1024))
	want := Usage{ActiveBlocks: 1, HeldBlocks: 1, ActiveBytes: 1000, RoundingBytes: 23, HeldBytes: 1087}
	if got := s.Usage(); got != want || got.ManagedBytes() != 2110 {
		t.Errorf("usage %+v, want %+v", got, want)
	}
}

// testKeeper is a strategy that keeps blocks.
type testKeeper interface {
	testStrategy
	Holder
	Trimmer
}

func eachKeeper(t *testing.T, f func(t *testing.T, up *fake, s testKeeper)) {
	eachStrategy(t, func(t *testing.T, open func(Allocator, Config) testStrategy) {
		up := &fake{}
		if s, ok := open(up, Config{}).(testKeeper); ok {
			f(t, up, s)
		} else if reflect.TypeOf(open(up, Config{})) != reflect.TypeOf(&Direct{}) {
			t.Error("not a Holder and Trimmer")
		}
	})
}

func TestFreeHeldGivesBackWhatIsHeld(t *testing.T) {
	eachKeeper(t, func(t *testing.T, up *fake, s testKeeper) {
		b := mustAlloc(t, s, 7)
		s.Free(mustAlloc(t, s, 700))
		s.FreeHeld()
		if u := s.Usage(); u.HeldBlocks != 0 || u.ActiveBlocks != 1 || up.frees != 1 {
			t.Errorf("usage %+v, %d frees upstream", u, up.frees)
		}
		s.Free(b)
		if s.Usage().HeldBlocks != 1 {
			t.Error("nothing is held after FreeHeld")
		}
	})
}

func TestStopHoldingPassesLaterFreesOn(t *testing.T) {
	eachKeeper(t, func(t *testing.T, up *fake, s testKeeper) {
		b := mustAlloc(t, s, 7)
		s.Free(mustAlloc(t, s, 700))
		s.StopHolding()
		s.Free(b)
		s.Free(mustAlloc(t, s, 700))
		if s.Usage() != (Usage{}) || up.frees != 3 || up.bytes != 0 {
			t.Errorf("usage %+v, %d frees upstream", s.Usage(), up.frees)
		}
	})
}

func TestTrimReturnsTheBytesThatWentUpstream(t *testing.T) {
	eachKeeper(t, func(t *testing.T, up *fake, s testKeeper) {
		s.Free(mustAlloc(t, s, 7))
		had := up.bytes
		if n := s.Trim(1); n != 0 {
			t.Errorf("%d bytes trimmed that were held in this epoch", n)
		}
		s.Free(mustAlloc(t, s, 1<<20))
		if n := s.Trim(1); n != had {
			t.Errorf("%d bytes trimmed, %d had been idle", n, had)
		}
		if n := s.Trim(0); n == 0 || up.bytes != 0 {
			t.Errorf("%d bytes trimmed, %d left", n, up.bytes)
		}
	})
}

func TestAHitAllocatesNothing(t *testing.T) {
	eachKeeper(t, func(t *testing.T, _ *fake, s testKeeper) {
		if n := testing.AllocsPerRun(1000, func() { s.Free(mustAlloc(t, s, 1000)) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// checkUsage compares what a strategy says with what its upstream has given.
func checkUsage(t *testing.T, u User, up *fake) {
	t.Helper()
	if got := u.Usage(); got.ManagedBytes() != up.bytes || got.ActiveBlocks+got.HeldBlocks != int64(len(up.out)) {
		t.Fatalf("usage %+v, but upstream has %d bytes in %d blocks out", got, up.bytes, len(up.out))
	}
}
