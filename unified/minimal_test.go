package unified_test

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/unified"
)

// An oracle has a bit an element and side, and says what has to move: what is
// stale, in as many calls as there are runs of it. Runs with no more than slack
// elements between them, all current on both sides, are one.
type oracle struct {
	stale [2][]bool // host, device
	slack int
}

const elemBytes = 2

// access tells the bytes and calls that an access takes, and does it.
func (o *oracle) access(side, i, j int, write bool) (bytes, calls int64) {
	last, clean := -1, false // where the last call ends, and whether all since is current on both sides
	for k := i; k < j; k++ {
		switch {
		case o.stale[side][k] && last >= 0 && clean && k-last <= o.slack:
			bytes += int64(k + 1 - last)
			last = k + 1
		case o.stale[side][k]:
			bytes++
			calls++
			last, clean = k+1, true
		default:
			clean = clean && !o.stale[1-side][k]
		}
		o.stale[side][k] = false
		o.stale[1-side][k] = o.stale[1-side][k] || write
	}
	return bytes * elemBytes, calls
}

// access is the same of a buffer.
func access(b *unified.Buffer[uint16], side, i, j int, write bool) error {
	v, err := b.View(i, j)
	switch {
	case err != nil:
	case side == 0 && write:
		_, err = v.HostMut()
	case side == 0:
		_, err = v.Host()
	case write:
		_, err = v.DeviceMut()
	default:
		_, err = v.Device()
	}
	return err
}

// Over random scripts the bytes that move and the calls are those of the oracle.
func TestCopiesAreMinimal(t *testing.T) {
	const n = 60
	for seed := range uint64(300) {
		o := oracle{[2][]bool{make([]bool, n), make([]bool, n)}, int(seed % 3 * 4)}
		d := sim.New(1 << 20)
		d.Costs(sim.Costs{Latency: 1, ToDevice: float64(o.slack*elemBytes) * 1e9})
		if o.slack == 0 {
			d.Costs(sim.Costs{})
		}
		b := made[uint16](t, d, n)
		check.Must(t, b.Fill(1), b.SyncToDevice())
		r := rand.New(rand.NewPCG(seed, 7))
		for range 60 {
			i := r.IntN(n)
			j := i + r.IntN(n-i) + 1
			side, write := r.IntN(2), r.IntN(2) == 0
			bytes, calls := o.access(side, i, j, write)
			before := d.Stats()
			check.Must(t, access(b, side, i, j, write))
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
		costs        sim.Costs
		bytes, calls int64
	}{
		{sim.Costs{}, 20, 2},
		{sim.Costs{Latency: 9_900, ToDevice: 1e9, Pageable: 1e9}, 20, 2},          // 9,900 bytes, and 9,990 lie between
		{sim.Costs{Latency: 10_100, ToDevice: 1e9, Pageable: 1e9}, 10 + 10000, 1}, // 10,100
		{sim.Costs{Call: 1}, 10 + 10000, 1},
	} {
		d := sim.New(1 << 20)
		b := made[byte](t, d, 100_000)
		check.Must(t, b.Zero(), b.SyncToDevice())
		d.Costs(c.costs)
		for _, i := range []int{0, 10_000} {
			check.Ok(b.HostMutRange(i, i+10))(t)
		}
		before := d.Stats()
		check.Must(t, b.SyncToDevice())
		after := d.Stats()
		if after.ToDeviceBytes-before.ToDeviceBytes != c.bytes || after.CopyCalls-before.CopyCalls != c.calls {
			t.Errorf("%+v: %d bytes in %d calls", c.costs, after.ToDeviceBytes-before.ToDeviceBytes, after.CopyCalls-before.CopyCalls)
		}
		wantState(t, b, unified.Synchronized)
	}
}
