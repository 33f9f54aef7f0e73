package trace

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// program is a recording of four threads that hand memory over to each other, with pauses.
func program(ops int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("op,id,size,thread,time_ns\n")
	var live []int
	now := int64(0)
	for id := range ops {
		now += rng.Int64N(2000)
		if id%1000 == 999 {
			now += 1e9
		}
		fmt.Fprintf(&b, "a,%d,%d,%d,%d\n", id, 1<<rng.IntN(20)+rng.IntN(1000), 100+rng.IntN(4), now)
		live = append(live, id)
		for len(live) > 0 && (len(live) > 300 || rng.IntN(2) == 0) {
			i := rng.IntN(len(live))
			fmt.Fprintf(&b, "f,%d,,%d,%d\n", live[i], 100+rng.IntN(4), now)
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
	}
	return b.String()
}

// busy keeps the processors and the collector at work until the test is over.
func busy(t *testing.T) {
	var stop atomic.Bool
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			var garbage []byte
			for !stop.Load() {
				garbage = make([]byte, 1<<16)
			}
			_ = garbage
		})
	}
	t.Cleanup(func() { stop.Store(true); all.Wait() })
}

// A replay gives the same Result on any number of processors, beside others and the
// collector: for every strategy, device, and key that has to do with processors or time.
func TestReplaysRepeatBitForBit(t *testing.T) {
	text := program(200)
	timed := read(t, text)
	untimed := read(t, strings.ReplaceAll(text, "time_ns", "stream"))
	lines := []string{
		"device=virtual,strategy=slab,cache_bytes=0", "device=virtual,strategy=sizeclass,max_held=1MiB",
		"device=virtual,strategy=bestfit,trim_after=10ms", "device=heap,idle=200ms", "device=mmap,idle=1ms,strategy=slab",
		"device=mmap,strategy=slab,gc_trigger=64KiB", "device=virtual,strategy=slab,max_bytes=256MiB",
		"device=virtual:fixed,strategy=bestfit", "device=sim:1GiB,strategy=sizeclass,trim_after=1ms",
	}
	for _, s := range slab.Strategies() {
		lines = append(lines, "device=virtual,strategy="+s, "device=heap,strategy="+s)
	}
	busy(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, line := range lines {
		repeat(t, line, Replayer{Processors: 3}, timed)
		repeat(t, line, Replayer{}, untimed)
	}
}

// repeat replays on several numbers of processors and compares.
func repeat(t *testing.T, line string, o Replayer, tr *Trace) {
	t.Helper()
	var first Result
	for i, max := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(max)
		p := open(t, line)
		r, err := o.Run(tr, p)
		r.NsPerOp = 0
		if i == 0 {
			first = r
		}
		if err != nil || r != first {
			t.Errorf("%s, %d processors, GOMAXPROCS %d: %v\n%+v, first\n%+v", line, o.Processors, max, err, r, first)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
