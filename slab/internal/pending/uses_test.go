package pending

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// A slot knows each stream that uses it once, until its owner has gone.
func TestUsesAreOfOneOwner(t *testing.T) {
	x := newBench(t)
	e, _ := x.table.Attach(upstreamtest.Block(10), 0, 0, true)
	s := e.Slot
	x.q.Use(s, &x.a)
	x.q.Use(s, &x.b)
	x.q.Use(s, &x.a)
	if !s.Streamed() || s.Simple() {
		t.Error("Release would not look for streams")
	}
	if on := x.q.EndUse(s); len(on) != 2 || on[0] != &x.a || on[1] != &x.b || s.Streamed() {
		t.Errorf("%v, streamed %v", on, s.Streamed())
	}
	if on := x.q.EndUse(s); on != nil {
		t.Errorf("the next owner has %v", on)
	}
}

// A stream that cannot record is waited for at once, and there is nothing else to wait for.
func TestAStreamThatCannotRecordIsWaitedFor(t *testing.T) {
	x := newBench(t)
	x.a.Err = errors.New("failed")
	e, _ := x.table.Attach(upstreamtest.Block(10), 0, 0, false)
	if x.q.Add(NewBlock(e, false, []device.Stream{&x.a})) || x.a.Syncs != 1 {
		t.Errorf("it waits, or the stream was synchronised %d times", x.a.Syncs)
	}
}

func TestAddOfWhatIsDone(t *testing.T) {
	x := newBench(t)
	e, _ := x.table.Attach(upstreamtest.Block(10), 0, 0, false)
	b := NewBlock(e, false, []device.Stream{&x.a})
	if x.a.Finish(); x.q.Add(b) || x.q.Len() != 0 {
		t.Error("a block waits for what is done")
	}
}

// A stream that gets a block waits for the other streams, not for itself.
func TestWaitOnOthers(t *testing.T) {
	x := newBench(t)
	b := x.add(1, &x.a, &x.b)
	if err := b.WaitOn(&x.b); err != nil || len(x.b.Waited) != 1 || x.b.Waited[0] != x.a.Recorded[0] {
		t.Errorf("%v, waited for %v", err, x.b.Waited)
	}
	if b.Sync(); x.a.Synced() != 1 || x.b.Synced() != 1 {
		t.Error("Sync did not wait for both")
	}
}

// TakeFor gives no block of more than twice the size.
func TestTakeForIsAtMostTwiceAsLarge(t *testing.T) {
	x := newBench(t)
	large := x.add(201, &x.a)
	x.want("more than twice", x.q.TakeFor(&x.a, 100), nil, 1)
	x.want("twice and less", x.q.TakeFor(&x.a, 101), large, 0)
}

// A block of which a slot could not count what is spare serves no one.
func TestSpareBytesCanBeCounted(t *testing.T) {
	most := uint64(math.MaxUint32)
	if bits.UintSize == 32 {
		t.Skip("no int is above it")
	}
	x := newBench(t)
	if b := x.add(int(most+2), &x.a); b.Fits(1, math.MaxInt) || !b.Fits(2, math.MaxInt) {
		t.Error("a block is handed out that has too much to spare, or not one that has not")
	}
}

// Uses of all streams are noted, and told without being forgotten.
func TestUseAll(t *testing.T) {
	x := newBench(t)
	e, _ := x.table.Attach(upstreamtest.Block(10), 0, 0, true)
	on := []device.Stream{&x.a, &x.b}
	x.q.UseAll(e.Slot, on)
	for range 2 {
		if got := x.q.Uses(e.Slot); !slices.Equal(got, on) {
			t.Errorf("%v, want %v", got, on)
		}
	}
}

// An error of a stream that is to wait is told.
func TestWaitOnTellsErrors(t *testing.T) {
	x := newBench(t)
	b := x.add(1, &x.a, &x.b)
	x.b.Err = errors.New("failed")
	if err := b.WaitOn(&x.b); err != x.b.Err || b.WaitOn(&x.a) != nil {
		t.Errorf("%v", err)
	}
}

// A block fits a size from its own down to where there is more to spare than it may have.
func TestFits(t *testing.T) {
	x := newBench(t)
	b := x.add(10, &x.a)
	for _, c := range []struct {
		size, spare int
		want        bool
	}{{10, 0, true}, {11, 100, false}, {9, 0, false}, {9, 1, true}, {1, 8, false}, {1, 9, true}} {
		if b.Fits(c.size, c.spare) != c.want {
			t.Errorf("10 bytes for %d, with %d to spare: %v", c.size, c.spare, !c.want)
		}
	}
}
