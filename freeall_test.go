package bufslab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/pressure"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// One call gives back all that is idle, on every device, also what keys of growpool and unified keep, and returns
// their sum. What is in use stays.
func TestFreeAllGivesBackWhatIsIdle(t *testing.T) {
	pressure.FreeAll() // what other tests have left
	var pools []*slab.Pool
	for _, line := range []string{"device=heap", "device=mmap", "device=sim:64MiB", "device=sim:64MiB:pinned", "device=mmap"} {
		p := slab.MustOpen(line)
		defer p.Close()
		pools = append(pools, p)
		for n := range 20 {
			check.Must(t, check.Ok(p.Get(1000<<(n%10)))(t).Release())
		}
	}
	keyed := growpool.New[int](pools[4], growpool.Config{})
	for k := range 4 {
		check.Must(t, check.Ok(growpool.Acquire[byte](t.Context(), keyed, k, 1<<20))(t).Release())
	}
	used := check.Ok(growpool.Acquire[byte](t.Context(), keyed, 5, 1<<20))(t)
	dev := check.Ok(device.Open("sim:64MiB"))(t)
	defer dev.Close()
	for _, p := range []*unified.Pool{unified.NewPool(dev, unified.PoolConfig{}), unified.NewPoolOn(pools[1], pools[2], unified.PoolConfig{})} {
		b := check.Ok(unified.Acquire[float32](p, 1<<18))(t)
		check.Must(t, b.Fill(1), b.SyncToDevice(), b.Release())
		defer func() {
			if p.Len() != 0 {
				t.Errorf("%d buffers are kept", p.Len())
			}
		}()
	}
	var managed int64
	for p := range pressure.Pools() {
		managed += p.Stats().ManagedBytes
	}
	n := pressure.FreeAll()
	var left, active int64
	for p := range pressure.Pools() {
		s := p.Stats()
		left, active = left+s.ManagedBytes, active+s.ActiveBytes
	}
	if n != managed-left || active != 1<<20 || left > 2<<20 {
		t.Errorf("%d bytes went back of %d, %d are left, %d active", n, managed, left, active)
	}
	check.Must(t, used.Release(), keyed.Close())
}
