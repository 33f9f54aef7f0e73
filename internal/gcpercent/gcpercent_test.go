package gcpercent

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// withPercent has the program set a percentage until the test ends.
func withPercent(t *testing.T, n int) {
	t.Helper()
	before := debug.SetGCPercent(n)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

func TestPercent(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		set    int
		h      size
		active int64
		want   int
	}{
		{100, size{100 * mb, 100 * mb}, 0, 100},
		{100, size{100 * mb, 100 * mb}, 100 * mb, 200},
		{50, size{100 * mb, 100 * mb}, 300 * mb, 200},
		{100, size{90 * mb, 100 * mb}, 900 * mb, 1000},
		{100, size{1 * mb, 1 * mb}, 99 * mb, 2525}, // of 4 MiB: 101 MiB, which the heap would have
		{-1, size{100 * mb, 100 * mb}, 100 * mb, -1},
		{0, size{100 * mb, 100 * mb}, 100 * mb, 0},
		{100, size{100 * mb, 100 * mb}, -5, 100},
		{1, size{100 * mb, 100 * mb}, 100 * mb, 2},
		{10_000_000, size{1 * mb, 1 * mb}, 1 << 30, math.MaxInt32}, // which is the most that the runtime has
		{math.MaxInt32, size{100 * mb, 100 * mb}, 1 << 30, math.MaxInt32},
	} {
		if got := percent(c.set, c.h, c.active); got != c.want {
			t.Errorf("%d %% of %v and %d elsewhere: %d, not %d", c.set, c.h, c.active, got, c.want)
		}
	}
}

// A change that is small beside the percentage is not worth it, and what is not a change never is.
func TestIsWorth(t *testing.T) {
	for _, c := range []struct {
		now, n int
		want   bool
	}{
		{100, 200, true}, {100, 130, true}, {100, 70, true}, {100, 1, true}, {100, 101, false}, {100, 99, false},
		{100, 100, false}, {0, 0, false}, {-1, -1, false}, {0, 100, true}, {1, 2, true}, {10000, 10100, false},
	} {
		if got := isWorth(c.n, c.now); got != c.want {
			t.Errorf("from %d %% to %d %%: %v", c.now, c.n, got)
		}
	}
}

var globals [1 << 15]*byte

// deep calls f with at least that many bytes of stack in use.
func deep(bytes int, f func()) {
	var frame [1 << 10]byte
	if bytes <= 0 {
		f()
	} else {
		deep(bytes-len(frame), f)
	}
	runtime.KeepAlive(&frame)
}

// The heap is what is live on it. Stacks and globals are looked at, too.
func TestHeap(t *testing.T) {
	const live, stack = 32 << 20, 1 << 20
	memory := make([]byte, live)
	globals[0] = &memory[0]
	defer func() { globals[0] = nil }()
	deep(stack, func() {
		runtime.GC()
		if h := heap(); h.live < live || h.scanned-h.live < stack+float64(unsafe.Sizeof(globals)) {
			t.Errorf("%+v where the heap has %d bytes, and stacks %d", h, live, stack)
		}
	})
}

// One of several that follow is enough, the second changes nothing, and the last to stop restores what was set.
func TestAdjustTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPercent(t, 100)
		runtime.GC()
		var active atomic.Int64
		first := Adjust(active.Load)
		for _, gib := range []int64{0, 1, 0} {
			active.Store(gib << 30)
			time.Sleep(2 * every)
			synctest.Wait()
			if n := current(); n > 1000 != (gib > 0) {
				t.Errorf("%d %% with %d GiB elsewhere", n, gib)
			}
		}
		active.Store(1 << 30)
		second := Adjust(active.Load)
		first()
		if n := current(); n <= 1000 {
			t.Errorf("%d %% where one of two has stopped", n)
		}
		second()
		if n := current(); n != 100 {
			t.Errorf("%d %% after both", n)
		}
	})
}

// A stop while the percentage is followed ends that, though what follows it is between two looks at the users.
func TestStopWhileItFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPercent(t, 100)
		var calls atomic.Int32
		stop := make(chan func(), 1)
		stop <- Adjust(func() int64 {
			if calls.Add(1) == 2 { // the first call is that of Adjust itself
				(<-stop)()
			}
			return 1 << 30
		})
		time.Sleep(10 * every)
		synctest.Wait()
		if n := calls.Load(); n != 2 || current() != 100 {
			t.Errorf("asked %d times for what is active, the second time it ended; %d %% are left", n, current())
		}
	})
}

// The percentage follows, begins anew with what the program sets meanwhile, and is restored.
func TestAdjust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPercent(t, 100)
		runtime.GC()
		var active atomic.Int64
		stop := Adjust(active.Load)
		also := Adjust(active.Load)
		pass := func() {
			time.Sleep(2 * every)
			synctest.Wait()
		}
		if n := current(); n != 100 {
			t.Errorf("%d %% with nothing elsewhere", n)
		}
		active.Store(1 << 30)
		if pass(); current() <= 1000 {
			t.Errorf("%d %% with 1 GiB elsewhere", current())
		}
		debug.SetGCPercent(50)
		pass() // it sees what was set
		pass()
		half := current()
		debug.SetGCPercent(-1)
		active.Store(2 << 30)
		pass()
		pass()
		if n := current(); n != -1 || half <= 500 {
			t.Errorf("%d %% where the program set 50, then %d where it set -1", half, n)
		}
		debug.SetGCPercent(80)
		pass()
		pass()
		stop()
		stop()
		if n := current(); n <= 500 {
			t.Errorf("%d %% where one of two has stopped", n)
		}
		also()
		if n := current(); n != 80 {
			t.Errorf("%d %% at the end", n)
		}
		pass()
	})
}
