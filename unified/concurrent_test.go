package unified_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/unified"
)

// Many goroutines use views of one buffer, each its own, over streams that
// they share and that work late.
func TestViewsInManyGoroutines(t *testing.T) {
	d := sim.New(1 << 20)
	d.Late(1)
	b := made[byte](t, d, 800)
	streams := []*sim.Stream{stream(t, d), stream(t, d), stream(t, d)}
	var group sync.WaitGroup
	for id := range 8 {
		v := check.Ok(b.View(100*id, 100*id+100))(t)
		group.Go(func() {
			for i := range 100 {
				if err := increment(v, byte(id+i), streams[i%3], streams[(i+id)%3]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	check.Must(t, b.Free())
	notUsedAfterFree(t, d)
}

// increment sends a value to the device by one stream, has another add 1, and looks.
func increment(b *unified.Buffer[byte], value byte, up, kernels *sim.Stream) error {
	err := errors.Join(b.Fill(value), b.SyncToDeviceOn(up))
	x, on := b.DeviceMutOn(kernels)
	err = errors.Join(err, on, kernels.Launch(time.Microsecond, func(args ...[]byte) {
		for i := range args[0] {
			args[0][i]++
		}
	}, x), b.UsedOn(kernels), b.SyncToHostOn(up))
	m, read := b.ToSlice()
	if err = errors.Join(err, read); err != nil {
		return err
	}
	for i, got := range m {
		if got != value+1 {
			return fmt.Errorf("element %d is %d, not %d", i, got, value+1)
		}
	}
	return nil
}

// Of many goroutines that free a buffer one does.
func TestFreeInManyGoroutines(t *testing.T) {
	d := sim.New(1 << 20)
	for range 100 {
		b := made[byte](t, d, 100)
		check.Must(t, b.SyncToDevice())
		var group sync.WaitGroup
		var freed atomic.Int32
		for range 4 {
			group.Go(func() {
				if _ = b.Fill(1); b.Free() == nil {
					freed.Add(1)
				}
			})
		}
		if group.Wait(); freed.Load() != 1 {
			t.Fatalf("%d goroutines have freed one buffer", freed.Load())
		}
	}
}

// The pool is thread-safe: no buffer has two owners.
func TestPoolIsSafeForConcurrentUse(t *testing.T) {
	d, p := simPool(unified.PoolConfig{MaxBuffers: 5})
	var group sync.WaitGroup
	for id := range byte(8) {
		group.Go(func() {
			for i := range 200 {
				b, err := unified.Acquire[byte](p, 100+i%3)
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(b.Fill(id), b.SyncToDevice()); err != nil {
					t.Error(err)
				}
				if m, err := b.ToSlice(); err != nil || m[0] != id || m[99] != id {
					t.Errorf("another owner wrote: %v, %v", m[:1], err)
				}
				if i%50 == 0 {
					p.Clear()
				}
				if err := b.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	s := p.Stats()
	if s.TotalAcquired != 1600 || s.TotalReleased != 1600 || s.CacheHits+s.CacheMisses != 1600 || p.Len() > 5 {
		t.Errorf("%+v", s)
	}
	check.Must(t, d.Close())
}
