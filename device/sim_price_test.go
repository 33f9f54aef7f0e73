package device

import (
	"math"
	"testing"
	"time"
)

// What a call costs in bytes is what a copy could move meanwhile.
func TestSimCallBytes(t *testing.T) {
	for _, c := range []struct {
		costs SimCosts
		want  int
	}{
		{SimCosts{}, 0},
		{SimCosts{ToDevice: 1e9}, 0},
		{SimCosts{Latency: 10 * time.Microsecond, ToDevice: 25e9}, 250_000},
		{SimCosts{Call: time.Microsecond, Latency: time.Microsecond, ToDevice: 1e9}, 2000},
		{SimCosts{Latency: 1}, math.MaxInt32}, // bytes take no time
		{SimCosts{Latency: time.Hour, ToDevice: 25e9}, math.MaxInt32},
	} {
		d := NewSim(0)
		d.Costs(c.costs)
		if n := d.CallBytes(); n != c.want {
			t.Errorf("%+v: %d bytes, want %d", c.costs, n, c.want)
		}
	}
}
