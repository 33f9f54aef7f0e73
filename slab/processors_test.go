package slab

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/replaying"
)

// Two processors compute with three blocks of one size, and then of another. The bytes of a large block are in
// the caches of the processor that used them last, and it gets them again. The control: the strategies
// take all calls for those of one processor, and a third of the bytes or more has to move.
func TestBytesStayWithTheirProcessor(t *testing.T) {
	t.Parallel() // with pools of its own
	atLength(t)
	for _, strategy := range []string{"sizeclass", "slab", "bestfit"} {
		if moved := movedBytes(t, strategy, true); moved > 0.01 {
			t.Errorf("%s: %.3f of the bytes were used by the other processor last, want at most 0.01", strategy, moved)
		}
		if moved := movedBytes(t, strategy, false); moved < 0.25 {
			t.Errorf("%s: %.3f where all calls are on one processor, so nothing was measured", strategy, moved)
		}
	}
}

// movedBytes returns the part of the bytes that the other processor has used last. The calls run on two
// processors, or all on one.
func movedBytes(t *testing.T, strategy string, two bool) float64 {
	t.Helper()
	p := mustOpen(t, openDevice(t, "virtual"), Config{Strategy: strategy})
	m, err := replaying.Reopen(p, 2)
	check.Must(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	type page struct {
		region device.Region
		number int
	}
	last := map[page]int{} // the processor that has used it
	var out [2][]PooledBuffer
	var moved, all float64
	for i := range 800 {
		on := r.IntN(2)
		if two {
			m.RunOn(on)
		}
		releaseAll(t, out[on])
		side := 50 + r.IntN(350)
		out[on] = nil
		for range 3 {
			b := mustGet(t, p, 8*side*side)
			out[on] = append(out[on], b)
			at := b.Block()
			for n := at.Off / 4096; n <= (at.Off+at.Len-1)/4096; n++ {
				before, used := last[page{at.Region, n}]
				if last[page{at.Region, n}] = on; used && i >= 200 {
					all++
					if before != on {
						moved++
					}
				}
			}
		}
	}
	releaseAll(t, out[0])
	releaseAll(t, out[1])
	check.Must(t, p.Close())
	return moved / all
}
