package memlimit

import (
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// limit sets the limit of the process until the test ends.
func limit(t *testing.T, n int64) {
	t.Helper()
	before := debug.SetMemoryLimit(n)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
}

func wantLimit(t *testing.T, want int64, when string) {
	t.Helper()
	if got := debug.SetMemoryLimit(-1); got != want {
		t.Errorf("the limit is %d %s, not %d", got, when, want)
	}
}

// What is off the heap is taken off the total, again and again, and stop restores the limit.
func TestAdjustFollows(t *testing.T) {
	limit(t, None)
	synctest.Test(t, func(t *testing.T) {
		var off atomic.Int64
		off.Store(1 << 30)
		stop := Adjust(4<<30, off.Load)
		wantLimit(t, 3<<30, "at once")
		if Total() != 4<<30 {
			t.Error(Total())
		}
		off.Store(2 << 30)
		time.Sleep(every)
		synctest.Wait()
		wantLimit(t, 2<<30, "when more is off the heap")
		off.Store(0)
		time.Sleep(every)
		synctest.Wait()
		wantLimit(t, 4<<30, "when nothing is")
		stop()
		stop() // does nothing
		wantLimit(t, None, "after stop")
		off.Store(1 << 30)
		time.Sleep(10 * every)
		synctest.Wait()
		wantLimit(t, None, "after stop")
	})
}

// A change that is small beside the total is not worth it, but the total itself is reached. Where nothing changes
// the limit is not set again.
func TestAdjustSetsWhatIsWorthIt(t *testing.T) {
	limit(t, None)
	synctest.Test(t, func(t *testing.T) {
		const total, little = 1 << 30, 64 << 10
		var off atomic.Int64
		defer Adjust(total, off.Load)()
		step := func(n, want int64, when string) {
			t.Helper()
			off.Store(n)
			time.Sleep(every)
			synctest.Wait()
			wantLimit(t, want, when)
		}
		step(total/4, total*3/4, "with a quarter off the heap")
		step(total/4+little, total*3/4, "with a little more")
		step(total/4-little, total*3/4, "with a little less")
		step(little, total-little, "with a little off the heap")
		step(0, total, "with nothing")
		debug.SetMemoryLimit(total / 2)
		step(0, total/2, "with nothing still")
	})
}

// The limit is never 0 and never negative, however much is off the heap.
func TestAdjustLeavesTheHeapSome(t *testing.T) {
	limit(t, None)
	for _, off := range []int64{1 << 30, 1 << 40, 1<<63 - 1, -5} {
		stop := Adjust(1<<30, func() int64 { return off })
		if got := debug.SetMemoryLimit(-1); got < 1<<26 || got > 1<<30 {
			t.Errorf("%d with %d off the heap", got, off)
		}
		stop()
	}
}

// A limit that the program has set is never raised: 0 takes it, and so does a total above it.
func TestAdjustHonoursTheLimitThatIsSet(t *testing.T) {
	limit(t, 1<<30)
	for _, total := range []int64{0, 8 << 30, None} {
		stop := Adjust(total, func() int64 { return 256 << 20 })
		wantLimit(t, 768<<20, "with 256 MiB off the heap")
		if Total() != 1<<30 {
			t.Error(Total())
		}
		stop()
		wantLimit(t, 1<<30, "after stop")
	}
}

// Without any limit there is nothing to adjust.
func TestAdjustWithoutALimit(t *testing.T) {
	limit(t, None)
	stop := Adjust(0, func() int64 { return 1 << 30 })
	wantLimit(t, None, "with a total of 0")
	stop()
	wantLimit(t, None, "after stop")
	if Total() != None {
		t.Error(Total())
	}
}

// Of several the least counts, and the last to stop restores the limit.
func TestAdjustTogether(t *testing.T) {
	limit(t, None)
	off := func() int64 { return 1 << 20 }
	large, small := Adjust(4<<30, off), Adjust(1<<30, off)
	wantLimit(t, 1<<30-1<<20, "with both")
	small()
	wantLimit(t, 4<<30-1<<20, "with the larger")
	large()
	wantLimit(t, None, "after both")
}

// A stop while the limit is followed ends that, though what follows it is between two looks at the totals.
func TestStopWhileItFollows(t *testing.T) {
	limit(t, 1<<30)
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		stop := make(chan func(), 1)
		stop <- Adjust(0, func() int64 {
			if calls.Add(1) == 2 { // the first call is that of Adjust itself
				(<-stop)()
			}
			return 256 << 20
		})
		time.Sleep(10 * every)
		synctest.Wait()
		if n := calls.Load(); n != 2 {
			t.Errorf("asked %d times for what is off the heap, the second time it ended", n)
		}
		wantLimit(t, 1<<30, "after stop")
	})
}
