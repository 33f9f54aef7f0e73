package growpool

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// What keys keep goes back as memory runs short, as the pool with pressure=on asks those who keep its buffers.
func TestKeysGiveBackUnderPressure(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	gave := make(chan int64, 64)
	p, err := slab.OpenConfig(slab.Config{Device: "mmap", Pressure: true, Hooks: &slab.Hooks{Pressure: func(_ string, n int64, _ string) { gave <- n }}})
	check.Must(t, err)
	g := New[string](p, Config{})
	check.Must(t, check.Ok(Acquire[byte](t.Context(), g, "k", 8<<20))(t).Release())
	if g.MemoryUsage().TotalBytes < 8<<20 {
		t.Error(g.MemoryUsage())
	}
	debug.SetMemoryLimit(1) // which live objects fill
	for sum := int64(0); sum < 8<<20; {
		sum += <-gave
	}
	if u := g.MemoryUsage(); u.TotalBytes != 0 {
		t.Errorf("%+v", u)
	}
	check.Must(t, p.Close())
}
