package unified_test

import (
	"testing"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// An access that has nothing to copy allocates nothing.
func TestAccessesDoNotAllocate(t *testing.T) {
	d := sim.New(1 << 20)
	b := made[float32](t, d, 1000)
	check.Must(t, b.Fill(1), b.SyncToDevice())
	for name, f := range map[string]func(){
		"Host":   func() { _, _ = b.Host() },
		"Device": func() { _, _ = b.Device() },
		"State":  func() { _ = b.State() },
		"Sync":   func() { _ = b.SyncToHost() },
	} {
		if n := check.Allocs(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkHostWhenSynchronized(b *testing.B) {
	d := sim.New(1 << 20)
	u := made[float32](b, d, 1000)
	_ = u.Fill(1)
	_ = u.SyncToDevice()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = u.Host()
	}
}
