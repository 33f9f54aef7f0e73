package growpool

import (
	"runtime/debug"
	"testing"
)

// With the collector off, only the valve brings back what Get has shown.
func TestValveBoundsWhatIsLeftToTheCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, c := range map[string]struct {
		Config
		most int64
	}{
		"budget": {Config{MaxBytes: 1 << 20}, 4 << 20},
		"valve":  {Config{GCValve: 1 << 20}, 4 << 20},
		"never":  {Config{MaxBytes: 1 << 20, GCValve: -1}, 1 << 40}, // the control
	} {
		below := openSlab(t, "device=heap,strategy=direct")
		p := New[int](below, c.Config)
		for i := range 200 {
			if _, err := Get[byte](p, 0, 50_000+i); err != nil {
				t.Fatal(err)
			}
		}
		peak := below.Stats().PeakManagedBytes
		if peak > c.most || name == "never" && peak < 200*50_000 {
			t.Errorf("%s: the slab.Pool had %d bytes at most", name, peak)
		}
		p.Close()
	}
}
