package main

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/bench/internal/report"
	"github.com/bufslab/bufslab/slab"
)

// What it costs to watch a pool: profile, guard, hooks and a reader of its metrics. Each
// opening has a watched pool and two without, in turns; one of those is the control. There are
// many openings, as equal pools differ by where their memory lies. It takes ten minutes on a
// machine where nothing else runs, and fails where the median is above 3 %:
//
//	BUFSLAB_BENCH=1 go test -timeout 25m -run TestWatched -v .
func TestWatched(t *testing.T) {
	if os.Getenv("BUFSLAB_BENCH") == "" {
		t.Skip("BUFSLAB_BENCH=1 runs it, on a machine where nothing else runs")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, dev := range []string{"device=heap", "device=mmap"} {
		for procs := 1; procs <= 2; procs++ {
			runtime.GOMAXPROCS(procs)
			for _, w := range []workload{
				{title: "16 out at once, 1 KiB", begin: bursts, size: 1 << 10},
				{title: "16 out at once, 4 KiB", begin: bursts, size: 4 << 10},
				{title: "16 out at once, 256 KiB", begin: bursts, size: 256 << 10},
				{title: "churn", begin: churn},
			} {
				plain := func(w workload) player {
					p := slab.MustOpen(dev)
					return player{play(p, w), func() { p.Close() }}
				}
				equal, on := besides(w, plain, func(w workload) player { return watch(dev, w) })
				t.Logf("%s, %s, %d processors: %.3f, two equal ones %.3f", dev, w.title, procs, on, equal)
				if on.Median > 1.03 {
					t.Errorf("%.3f times as long", on)
				}
			}
		}
	}
}

// A player does operations of a workload on a pool. What a churn has out in the end, the collector finds.
type player struct {
	turn  func(ops int) time.Duration
	close func()
}

// play returns what does operations on GOMAXPROCS goroutines that begin together, and the time from the first
// beginning to the last end.
func play(p *slab.Pool, w workload) func(ops int) time.Duration {
	turns := make([]turn, runtime.GOMAXPROCS(0))
	for g := range turns {
		turns[g] = w.begin(ours{p}, w.size)
	}
	return func(ops int) time.Duration {
		begin, end := make([]time.Time, len(turns)), make([]time.Time, len(turns))
		var ready atomic.Int64
		var all sync.WaitGroup
		for g, turn := range turns {
			all.Go(func() {
				for ready.Add(1); ready.Load() < int64(len(turns)); { // Gosched would let them run in turn
				}
				begin[g] = time.Now()
				turn(ops / len(turns))
				end[g] = time.Now()
			})
		}
		all.Wait()
		return slices.MaxFunc(end, time.Time.Compare).Sub(slices.MinFunc(begin, time.Time.Compare))
	}
}

// watch plays with a pool that has all on. Its metrics are read every 10 ms, a thousand
// times as often as a monitoring system reads them.
func watch(dev string, w workload) player {
	c, err := slab.ParseConfig(dev + ",profile_rate=512KiB,guard=5000")
	if err != nil {
		panic(err)
	}
	c.Hooks = &slab.Hooks{
		OutOfMemory:   func(*slab.OutOfMemoryError) {},
		Trimmed:       func(string, int64) {},
		Leaked:        func(string, slab.Leak) {},
		DoubleRelease: func(string, int) {},
		Guard:         func(*slab.GuardError) {},
	}
	p, err := slab.OpenConfig(c)
	if err != nil {
		panic(err)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				for range p.Metrics() {
				}
			}
		}
	}()
	return player{play(p, w), func() { close(done); <-ended; p.Close() }}
}

const (
	warmUp   = 250 * time.Millisecond // of each pool, before its turns are timed
	longest  = 20 * time.Millisecond  // of a turn: then it has fewer operations
	leastOps = 64                     // of a turn
	mostOps  = 1 << 14
)

// An entrant is a player with the operations of its turns.
type entrant struct {
	player
	ops int
}

// enter warms a player up.
func enter(p player) *entrant {
	p.turn(leastOps)
	each := float64(p.turn(leastOps)) / leastOps
	ops := func() int { return max(leastOps, min(mostOps, int(float64(longest)/each))/leastOps*leastOps) }
	for begin := time.Now(); time.Since(begin) < warmUp; {
		n := ops()
		each = min(each, float64(p.turn(n))/float64(n)) // most are slow at first
	}
	return &entrant{p, ops()}
}

// settling is how long the pools of an opening have turns before they are timed. A churn's
// pool grows for some tenths of a second, and is faster then.
const settling = time.Second

// besides returns how much longer turns of a pool take than those of a plain one, opening by
// opening, and how much longer those of another plain one do.
func besides(w workload, plain, other func(workload) player) (equal, on report.Spread) {
	var equals, ons []float64
	openings := 60
	if w.size > 0 && runtime.GOMAXPROCS(0) > 1 { // sixteen out: half a millisecond, which anything disturbs
		openings = 240
	}
	for range openings {
		var e [3]*entrant
		for _, i := range rand.Perm(len(e)) { // each finds other memory
			e[i] = enter([]func(workload) player{plain, plain, other}[i](w))
		}
		for begin := time.Now(); w.size == 0 && time.Since(begin) < settling; {
			takeTurns(e[:])
		}
		var same, more []float64
		for range 30 {
			times := takeTurns(e[:])
			same = append(same, times[1]/times[0])
			more = append(more, times[2]/times[0])
		}
		equals = append(equals, report.SpreadOf(same).Median)
		ons = append(ons, report.SpreadOf(more).Median)
		for _, x := range e {
			x.close()
		}
	}
	return report.SpreadOf(equals), report.SpreadOf(ons)
}

// takeTurns gives each a turn, in another order each time, and returns what they took.
func takeTurns(all []*entrant) []float64 {
	times := make([]float64, len(all))
	for _, i := range rand.Perm(len(all)) {
		times[i] = float64(all[i].turn(all[i].ops)) / float64(all[i].ops)
	}
	return times
}
