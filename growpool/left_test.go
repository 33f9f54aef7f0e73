package growpool

import (
	"math"
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A collection is due when what was left exceeds the trigger and twice what the collection before left. The trigger is
// the budget where a Config has none, and then no bytes are due in a pool without a budget.
func TestWhenACollectionIsDue(t *testing.T) {
	const never = math.MaxInt64
	for _, c := range []struct {
		budget, trigger, after, most int64
	}{
		{0, 0, 0, never}, {0, -1, 0, never}, {0, 1, 0, 1}, {0, 500, 0, 500}, {0, 500, 1000, 2500},
		{1000, 0, 0, 1000}, {1000, 0, 100, 1200}, {1000, -1, 0, never}, {1000, 1, 0, 1}, {1000, 1, 10, 21}, {1000, 5000, 0, 5000},
	} {
		p := open(t, Config{MaxBytes: c.budget, GCTrigger: c.trigger})
		l := &p.budget.left
		l.after.Store(c.after)
		if l.now.Store(c.most); l.due() {
			t.Errorf("%+v: too early", c)
		}
		if l.now.Store(c.most + 1); c.most < never && !l.due() {
			t.Errorf("%+v: not due", c)
		}
		l.now.Store(0)
	}
}

// A Get without room asks the slab.Pool once where nothing was left to the collector, and runs no collection; neither
// does one after a collection that has brought nothing.
func TestNoRoomIsSaidOnceWhereNothingWasLeft(t *testing.T) {
	p := New[string](openSlab(t, "device=mmap,max_bytes=1MiB,strategy=direct,gc_trigger=0"), Config{})
	defer p.Close()
	fails := func(asks int64) {
		t.Helper()
		before := p.slab.Stats().Failed
		n := forced(func() { check.Wraps(t, check.Err(Get[byte](p, "new", 1<<20)), device.ErrOutOfMemory) })
		if asked := p.slab.Stats().Failed - before; n > 0 != (asks > 1) || asked != asks {
			t.Errorf("%d collections, asked %d times", n, asked)
		}
	}
	release(t, acquire[byte](t, p, "leased", 1000))
	kept := mustGet[byte](t, p, "shown", 1000)
	fails(1)
	mustGet[byte](t, p, "shown", 2000)
	fails(3) // the View still has what was left
	fails(1)
	runtime.KeepAlive(kept)
}
