package unified_test

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// An oracle with a bit an element and side says what has to move. Calls are
// as few as there are runs of it.
func TestCopiesAreMinimal(t *testing.T) {
	const n = 60
	for seed := range uint64(200) {
		d := device.NewSim(1 << 20)
		b := made[uint16](t, d, n)
		must(t, b.Fill(1))
		must(t, b.SyncToDevice())
		var stale [2][n]bool // host, device
		r := rand.New(rand.NewPCG(seed, 7))
		for range 60 {
			i := r.IntN(n)
			j := i + r.IntN(n-i) + 1
			v, err := b.View(i, j)
			must(t, err)
			side := r.IntN(2)
			bytes, calls := int64(0), int64(0)
			for k := i; k < j; k++ {
				if stale[side][k] {
					bytes += 2
					if k == i || !stale[side][k-1] {
						calls++
					}
				}
			}
			write := r.IntN(2) == 0
			before := d.Stats()
			switch {
			case side == 0 && write:
				_, err = v.HostMut()
			case side == 0:
				_, err = v.Host()
			case write:
				_, err = v.DeviceMut()
			default:
				_, err = v.Device()
			}
			must(t, err)
			for k := i; k < j; k++ {
				stale[side][k] = false
				stale[1-side][k] = stale[1-side][k] || write
			}
			after := d.Stats()
			moved := after.ToDeviceBytes + after.ToHostBytes - before.ToDeviceBytes - before.ToHostBytes
			if made := after.CopyCalls - before.CopyCalls; moved != bytes || made != calls {
				t.Fatalf("seed %d: elements %d to %d of side %d: %d bytes in %d calls, the least is %d in %d", seed, i, j, side, moved, made, bytes, calls)
			}
		}
	}
}

// What lies between two ranges is copied with them where a call costs more.
func TestMergeSlack(t *testing.T) {
	for _, c := range []struct {
		costs        device.SimCosts
		bytes, calls int64
	}{
		{device.SimCosts{}, 20, 2},
		{device.SimCosts{Latency: 1000, ToDevice: 1e9, Pageable: 1e9}, 20, 2},           // 1,000 bytes
		{device.SimCosts{Latency: 20_000, ToDevice: 1e9, Pageable: 1e9}, 10 + 10000, 1}, // 20,000
		{device.SimCosts{Call: 1}, 10 + 10000, 1},
	} {
		d := device.NewSim(1 << 20)
		b := made[byte](t, d, 100_000)
		must(t, b.Zero())
		must(t, b.SyncToDevice())
		d.Costs(c.costs)
		for _, i := range []int{0, 10_000} {
			_, err := b.HostMutRange(i, i+10)
			must(t, err)
		}
		before := d.Stats()
		must(t, b.SyncToDevice())
		after := d.Stats()
		if after.ToDeviceBytes-before.ToDeviceBytes != c.bytes || after.CopyCalls-before.CopyCalls != c.calls {
			t.Errorf("%+v: %d bytes in %d calls", c.costs, after.ToDeviceBytes-before.ToDeviceBytes, after.CopyCalls-before.CopyCalls)
		}
		wantState(t, b, unified.Synchronized)
	}
}
