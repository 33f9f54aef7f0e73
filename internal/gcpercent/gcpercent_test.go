package gcpercent

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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
	} {
		if got := percent(c.set, c.h, c.active); got != c.want {
			t.Errorf("%d %% of %v and %d elsewhere: %d, not %d", c.set, c.h, c.active, got, c.want)
		}
	}
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
