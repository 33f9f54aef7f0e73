package pending

import (
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A bench has slots for a queue, and streams whose work the test ends.
type bench struct {
	t     *testing.T
	table handle.Table
	q     Queue
	a, b  upstreamtest.Stream
}

func newBench(t *testing.T) *bench {
	x := &bench{t: t}
	x.table.Open(nil, handle.Options{Lock: new(sync.Mutex), WatchFrom: 1 << 30, WatchUnreachableFrom: 1 << 30})
	return x
}

// add lets a block of n bytes wait for streams.
func (x *bench) add(n int, on ...device.Stream) *Block {
	x.t.Helper()
	e, _ := x.table.Attach(upstreamtest.Block(n), 0, 0, false)
	b := NewBlock(e, false, on)
	if !x.q.Add(b) {
		x.t.Fatalf("a block of %d bytes does not wait", n)
	}
	return b
}

// want checks what was taken out, and what is left.
func (x *bench) want(what string, got, want *Block, left int64) {
	x.t.Helper()
	if got != want || x.q.Len() != left || x.q.Waiting().Blocks != left {
		x.t.Errorf("%s: %v, want %v; %d left, %+v", what, got, want, x.q.Len(), x.q.Waiting())
	}
}

func TestTakeForPrefersTheSmallestThatFits(t *testing.T) {
	x := newBench(t)
	last, fits, next, small := x.add(180, &x.a), x.add(120, &x.a), x.add(150, &x.a), x.add(99, &x.a)
	x.want("the smallest of 100 to 200 bytes", x.q.TakeFor(&x.a, 100), fits, 3)
	x.want("none of 200 to 400 bytes", x.q.TakeFor(&x.a, 200), nil, 3)
	x.want("the very size", x.q.TakeFor(&x.a, 99), small, 2)
	x.want("of another stream", x.q.TakeFor(&x.b, 100), nil, 2)
	x.want("the smaller of two", x.q.TakeFor(&x.a, 100), next, 1)
	x.want("the last", x.q.TakeFor(&x.a, 100), last, 0)
}

// What waits for two streams is for neither alone.
func TestTakeForWantsBlocksOfOneStream(t *testing.T) {
	x := newBench(t)
	x.add(100, &x.a, &x.b)
	x.want("of two streams", x.q.TakeFor(&x.a, 100), nil, 1)
}

func TestTakeOldestHasWaitedLongest(t *testing.T) {
	x := newBench(t)
	any := func(*Block) bool { return true }
	first, second, third, fourth := x.add(1, &x.a), x.add(2, &x.b), x.add(3, &x.a), x.add(4, &x.b)
	x.want("of those wanted", x.q.TakeOldest(func(b *Block) bool { return b != first }), second, 3)
	x.want("of all", x.q.TakeOldest(any), first, 2)
	x.want("of the rest", x.q.TakeOldest(any), third, 1)
	x.want("the last", x.q.TakeOldest(any), fourth, 0)
	x.want("of none", x.q.TakeOldest(any), nil, 0)
}

// A stream does its work in order: only the first block of a queue is asked.
func TestTakeDoneLooksAtTheFirstOfEachQueue(t *testing.T) {
	x := newBench(t)
	first, second, other := x.add(1, &x.a), x.add(2, &x.a), x.add(3, &x.b)
	x.a.Recorded[1].Sync()
	x.want("the first is not done", x.q.TakeDone(), nil, 3)
	x.b.Finish()
	x.want("the first of the other queue is", x.q.TakeDone(), other, 2)
	x.a.Finish()
	x.want("the first", x.q.TakeDone(), first, 1)
	x.want("the second", x.q.TakeDone(), second, 0)
}

// A block whose first stream is done waits in the queue of its next stream.
func TestTakeDoneMovesABlockToItsNextStream(t *testing.T) {
	x := newBench(t)
	both := x.add(1, &x.a, &x.b)
	x.want("another stream's", x.q.TakeFor(&x.b, 1), nil, 1)
	x.a.Finish()
	x.want("the second stream still works", x.q.TakeDone(), nil, 1)
	x.want("now it waits for that stream alone", x.q.TakeFor(&x.b, 1), both, 0)
}

func TestStopMakesAddRefuse(t *testing.T) {
	x := newBench(t)
	kept := x.add(1, &x.a)
	x.q.Stop()
	if x.q.Add(NewBlock(kept.Entry, false, []device.Stream{&x.a})) {
		t.Error("a stopped queue took a block")
	}
	x.a.Finish()
	x.want("what waited before", x.q.TakeDone(), kept, 0)
}

// A block whose slices escaped waits without being counted, and fits no one.
func TestAnEscapedBlockIsNotHandedOut(t *testing.T) {
	x := newBench(t)
	b := x.add(100, &x.a)
	x.q.TakeOldest(func(*Block) bool { return true })
	b.Escaped = true
	if !x.q.Add(b) || x.q.Len() != 1 || x.q.Waiting() != (handle.Tally{}) || x.q.TakeFor(&x.a, 100) != nil {
		t.Errorf("%d wait, %+v", x.q.Len(), x.q.Waiting())
	}
}

// Of those that fit equally well the latest is taken, and none that is far back.
func TestTakeForPrefersTheLatest(t *testing.T) {
	x := newBench(t)
	far := x.add(100, &x.a)
	early, late := x.add(120, &x.a), x.add(120, &x.a)
	x.want("the later of two", x.q.TakeFor(&x.a, 110), late, 2)
	for range lookBack - 1 {
		x.add(1, &x.a)
	}
	x.want("the last that is looked at", x.q.TakeFor(&x.a, 110), early, lookBack)
	x.add(1, &x.a)
	x.want("one that is far back", x.q.TakeFor(&x.a, 100), nil, lookBack+1)
	x.want("it waits all the same", x.q.TakeOldest(func(b *Block) bool { return b.Slot.Len() == 100 }), far, lookBack)
}

// Oldest leaves the block that has waited longest, of all queues, and waits for all its uses.
func TestOldestStays(t *testing.T) {
	x := newBench(t)
	if b, sync := x.q.Oldest(); b != nil || sync != nil {
		t.Error("a block that none waits for")
	}
	first := x.add(1, &x.b, &x.a)
	x.add(2, &x.a)
	b, sync := x.q.Oldest()
	x.want("of two queues", b, first, 2)
	if sync(); x.a.Synced() != 1 || x.b.Synced() != 1 {
		t.Errorf("waited %d and %d times", x.a.Synced(), x.b.Synced())
	}
	x.want("it is done", x.q.TakeDone(), first, 1)
}

// What waits counts with the bytes of its blocks, and once in all queues.
func TestWaitingCountsBytes(t *testing.T) {
	x := newBench(t)
	x.add(10, &x.a, &x.b)
	x.add(20, &x.b)
	x.a.Finish()
	x.want("none is done", x.q.TakeDone(), nil, 2) // and the first waits for the other stream now
	if x.q.Waiting() != (handle.Tally{Blocks: 2, Bytes: 30}) {
		t.Errorf("%+v", x.q.Waiting())
	}
	x.b.Finish()
	for n := range 2 {
		if x.q.TakeDone() == nil {
			t.Errorf("%d blocks are done", n)
		}
	}
	if x.q.Waiting() != (handle.Tally{}) || len(x.q.queues) != 0 || x.q.TakeDone() != nil {
		t.Errorf("%+v, %d queues", x.q.Waiting(), len(x.q.queues))
	}
}
