package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// GetOn hands out at once what waits for its stream alone, without an event.
func TestGetOnItsOwnStream(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *sim.Device) {
		q := &queue{}
		b := mustGetOn(t, p, streamSize, q) // counts as used
		at := where(b)
		mustRelease(t, b)
		waiting(t, p, 1)
		b = mustGetOn(t, p, streamSize*2/3, q)
		if where(b) != at || b.Len() != streamSize*2/3 || b.Block().Len != b.Len() {
			t.Error("a block that waits for the same stream is not handed out")
		}
		if q.Synced() != 0 || len(q.Waited) != 0 {
			t.Errorf("%d waits of the host, %d of the stream", q.Synced(), len(q.Waited))
		}
		waiting(t, p, 0)
		mustRelease(t, b)
		waiting(t, p, 1)
		if small := mustGetOn(t, p, streamSize/3, q); where(small) == at {
			t.Error("a block more than twice as large is handed out")
		} else {
			mustRelease(t, small)
		}
	})
}

// Where there is nothing free GetOn takes what waits for another stream, and
// lets its own wait; the host does not wait.
func TestGetOnSteals(t *testing.T) {
	for _, blocks := range []int64{1, 8} { // with and without room
		streamPools(t, blocks, Config{}, func(t *testing.T, p *Pool, d *sim.Device) {
			a, b := &queue{}, &queue{}
			x := mustGetOn(t, p, streamSize/2+1, a)
			at, allocs := where(x), p.Stats().UpstreamAllocs
			mustRelease(t, x)
			free := p.Stats().HeldBytes - p.Stats().WaitingBytes
			y := mustGetOn(t, p, streamSize/2+1, b)
			if free <= streamSize/2 {
				if where(y) != at || len(b.Waited) != 1 || b.Waited[0] != a.Recorded[0] || p.Stats().UpstreamAllocs != allocs {
					t.Errorf("not stolen: %d waits of the stream", len(b.Waited))
				}
			} else if where(y) == at {
				t.Error("stolen although there is free memory")
			}
			if a.Synced() != 0 {
				t.Error("the host has waited")
			}
			mustRelease(t, y)
		})
	}
}

// Where there is no room it steals what is much larger too.
func TestGetOnStealsWhatIsLarger(t *testing.T) {
	for _, name := range []string{"direct", "exact", "bitlog"} { // which have nothing smaller to cut from it
		streamPool(t, 10, Config{Strategy: name}, func(t *testing.T, p *Pool, d *sim.Device) {
			a, b := &queue{}, &queue{}
			d.FailAlloc(2, device.ErrOutOfMemory)
			mustRelease(t, mustGetOn(t, p, streamSize, a))
			x := mustGetOn(t, p, 100, b)
			if len(b.Waited) != 1 || a.Synced() != 0 {
				t.Errorf("%s: not stolen, %d waits of the host", name, a.Synced())
			}
			if s := p.Stats(); s.ActiveBytes != 100 || s.RoundingBytes < streamSize-100 {
				t.Errorf("%s: %+v", name, s)
			}
			mustRelease(t, x)
		})
	}
}

// A stream that has failed steals nothing, and what it wanted still waits.
func TestFailedStreamStealsNothing(t *testing.T) {
	streamPools(t, 8, Config{}, func(t *testing.T, p *Pool, _ *sim.Device) {
		a, b := &queue{}, &queue{Err: errLost}
		mustRelease(t, mustGetOn(t, p, streamSize, a))
		x := mustGetOn(t, p, streamSize, b)
		waiting(t, p, 1)
		mustRelease(t, x)
	})
}

// Of a block that several streams have used, GetOn of one waits for the others.
func TestStealFromSeveralStreams(t *testing.T) {
	streamPool(t, 1, Config{Strategy: "exact"}, func(t *testing.T, p *Pool, _ *sim.Device) {
		a, b, c := &queue{}, &queue{}, &queue{}
		mustRelease(t, used(t, mustGet(t, p, streamSize), a, b, c))
		x := mustGetOn(t, p, streamSize, b)
		if len(b.Waited) != 2 || b.Waited[0] != a.Recorded[0] || b.Waited[1] != c.Recorded[0] {
			t.Errorf("waits for %d events", len(b.Waited))
		}
		mustRelease(t, x)
	})
}

// Where every block has to go by the strategy, none is handed out while it waits.
func TestGetOnByTheStrategy(t *testing.T) {
	for _, c := range []Config{{Check: true}, {Zero: true}} {
		streamPools(t, 8, c, func(t *testing.T, p *Pool, _ *sim.Device) {
			q := &queue{}
			b := mustGetOn(t, p, streamSize, q)
			at := where(b)
			mustRelease(t, b)
			if b = mustGetOn(t, p, streamSize, q); where(b) == at {
				t.Error("handed out while it waits")
			}
			mustRelease(t, b)
		})
	}
}

// Free memory comes before what waits for another stream, also where just one block is free.
func TestGetOnTakesTheLastFreeBlock(t *testing.T) {
	streamPool(t, 8, Config{Strategy: "exact"}, func(t *testing.T, p *Pool, _ *sim.Device) {
		a, b := &queue{}, &queue{}
		waits, free := mustGetOn(t, p, streamSize, a), mustGet(t, p, streamSize)
		at := where(free)
		releaseAll(t, []PooledBuffer{waits, free})
		if x := mustGetOn(t, p, streamSize, b); where(x) != at || len(b.Waited) != 0 {
			t.Errorf("%d waits of the stream, though a block is free", len(b.Waited))
		} else {
			mustRelease(t, x)
		}
	})
}
