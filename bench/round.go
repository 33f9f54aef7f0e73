package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/bufslab/bufslab/bench/internal/report"
)

const (
	warmUp    = 250 * time.Millisecond // of each pool, before the first round
	longest   = 20 * time.Millisecond  // of a turn: then it has fewer operations
	leastOps  = 64                     // of a turn
	refill    = 1 << 10                // operations that fill a pool which the collector has emptied
	leastTime = 0.1                    // nanoseconds of an operation, where the harness alone took as long
)

// A result has what each contender needed for an operation of a workload, in nanoseconds
// less the harness, round by round.
type result struct {
	workload
	net [][]float64
}

// An entrant is a contender in one workload's rounds.
type entrant struct {
	player
	ops     int  // of a turn
	garbage bool // its turns leave work to the collector
	times   []float64
	net     []float64 // the same, less the harness
}

// enter opens a contender's pool and warms it up for so long.
func enter(c contender, w workload, warm time.Duration) *entrant {
	e := &entrant{player: c.start(w), ops: leastOps}
	e.turn(e.ops)
	each := float64(e.turn(e.ops)) / float64(e.ops)
	for begin := time.Now(); time.Since(begin) < warm; {
		n := turnOf(hotOps, each)                       // in cold workloads, too: they are few operations of a warm pool
		each = min(each, float64(e.turn(n))/float64(n)) // most are slow at first
	}
	e.ops = turnOf(w.turnOps(), each)
	e.garbage = e.allocates()
	return e
}

// turnOf returns how many of its operations a turn does, if each takes so many nanoseconds.
func turnOf(ops int, each float64) int {
	ops = min(ops, int(float64(longest)/each))
	return max(leastOps, ops/leastOps*leastOps)
}

// allocates reports whether the turns of a warm pool leave garbage, as those do that reuse
// nothing. A collection would empty some pools, and they would seem to.
func (e *entrant) allocates() bool {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	e.turn(e.ops)
	runtime.ReadMemStats(&before)
	e.turn(e.ops)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc-before.TotalAlloc > 16<<10
}

func (e *entrant) takeTurn() {
	e.times = append(e.times, float64(e.turn(e.ops))/float64(e.ops))
}

// compete times contenders in turns. Those who leave garbage have rounds of their own after
// the others': the collections that they start would empty the sync.Pools.
func compete(w workload, contenders []contender, rounds int, warm time.Duration) result {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(w.procs))
	harness := enter(newHarness(), w, warm)
	all := []*entrant{harness}
	for _, c := range contenders {
		all = append(all, enter(c, w, warm))
	}
	runtime.GC()
	for _, garbage := range []bool{false, true} {
		group := []*entrant{harness}
		for _, e := range all[1:] {
			if e.garbage == garbage {
				group = append(group, e)
			}
		}
		playRounds(group, rounds)
	}
	r := result{workload: w}
	for _, e := range all {
		e.close()
		r.net = append(r.net, e.net)
	}
	r.net = r.net[1:]
	return r
}

// playRounds gives everyone a turn in each round, in another order each time. The figures
// of a round may be compared: a machine that changes its speed changes it for all. The
// first of all is the harness.
func playRounds(all []*entrant, rounds int) {
	for _, e := range all {
		e.times = nil
	}
	for range rounds {
		for _, i := range rand.Perm(len(all)) {
			all[i].takeTurn()
		}
	}
	for _, e := range all {
		e.net = less(e.times, all[0].times)
	}
}

// less takes the harness's figures off those of the same rounds.
func less(times, harness []float64) []float64 {
	net := make([]float64, len(times))
	for i := range times {
		net[i] = max(times[i]-harness[i], leastTime)
	}
	return net
}

// fastest returns which of the others had the least median.
func (r result) fastest(contenders []contender) int {
	best, least := -1, math.Inf(1)
	for i, c := range contenders {
		if m := report.SpreadOf(r.net[i]).Median; !c.ours && m < least {
			best, least = i, m
		}
	}
	return best
}
