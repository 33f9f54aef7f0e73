package slab

import "testing"

// A pool names the device whose memory it hands out, whatever stands between them, and
// none where that is not known.
func TestPoolNamesItsDevice(t *testing.T) {
	d := openDevice(t, "sim:10MiB")
	for name, up := range map[string]Allocator{"itself": d, "limited": NewLimit(d, 1<<20), "counted": pass(NewLimit(d, 1<<20))} {
		for _, c := range []Config{{}, {MaxBytes: 1 << 20}, {Check: true}} {
			if got := mustOpen(t, up, c).Device(); got != d {
				t.Errorf("%s: device %v, want %v", name, got, d)
			}
		}
	}
	for _, p := range []*Pool{mustOpen(t, struct{ Allocator }{d}, Config{}), nil, {}} {
		if got := p.Device(); got != nil {
			t.Errorf("device %v of a Pool that does not know it", got)
		}
	}
}
