package main

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// all are the pools of the league.
func all() []contender { return everyone(nil) }

func TestEveryPoolHandsOutMemoryOfItsOwn(t *testing.T) {
	for _, c := range all() {
		if err := c.prove(); err != nil {
			t.Error(err)
		}
	}
}

// again is a pool that hands out the same memory twice.
type again [1 << 20]byte

func (p *again) get(n int) (int, []byte) { return 0, p[:n] }
func (p *again) put(int)                 {}

// little is a pool that hands out a byte less.
type little struct{}

func (little) get(n int) (int, []byte) { return 0, make([]byte, n-1) }
func (little) put(int)                 {}

func TestAPoolThatCheatsIsFound(t *testing.T) {
	if prove(new(again)) == nil {
		t.Error("handing out memory twice is not found")
	}
	if prove(little{}) == nil {
		t.Error("handing out too little is not found")
	}
}

// tally is a pool that counts.
type tally struct{ gets, puts, closed atomic.Int64 }

func (p *tally) get(n int) (int, []byte) { p.gets.Add(1); return n, make([]byte, max(n, 1)) }
func (p *tally) put(int)                 { p.puts.Add(1) }
func (p *tally) Close() error            { p.closed.Add(1); return nil }

func TestATurnHasAsManyOperationsAsItSays(t *testing.T) {
	for _, w := range append(league(), counted()...) {
		if w.size > 4<<10 {
			continue
		}
		old := runtime.GOMAXPROCS(w.procs)
		p := new(tally)
		player := play[int](p, w)
		if took := player.turn(256); took <= 0 {
			t.Errorf("%s took %v", w.name(), took)
		}
		if n := p.gets.Load(); n != 256 {
			t.Errorf("%s: %d operations", w.name(), n)
		}
		if p.closed.Load() != 0 {
			t.Errorf("%s closes its pool before the next turn", w.name())
		}
		player.close()
		if p.gets != p.puts || p.closed.Load() != 1 {
			t.Errorf("%s: %d got, %d put, closed %d times", w.name(), p.gets.Load(), p.puts.Load(), p.closed.Load())
		}
		runtime.GOMAXPROCS(old)
	}
}

// What is slow has shorter turns, of whole batches on two processors.
func TestTurnsAreCutAtTwentyMilliseconds(t *testing.T) {
	for _, c := range []struct {
		ops  int
		each float64
		want int
	}{
		{hotOps, 10, hotOps}, {hotOps, float64(longest) / 1000, 960}, {hotOps, 1e9, leastOps},
		{coldOps, 10, coldOps}, {coldOps, 1e9, leastOps},
	} {
		if got := turnOf(c.ops, c.each); got != c.want {
			t.Errorf("%v ns each: %d operations, not %d", c.each, got, c.want)
		}
	}
}

// In a round each has one turn, and the harness's is taken off.
func TestARoundIsATurnForEach(t *testing.T) {
	const rounds = 20
	var order []int
	var all []*entrant
	for i := range 4 {
		all = append(all, &entrant{ops: 1000, player: player{turn: func(ops int) time.Duration {
			order = append(order, i)
			return time.Duration(ops * (i + 1))
		}}})
	}
	playRounds(all, rounds)
	seen := map[[4]int]bool{}
	for round := range slices.Chunk(order, len(all)) {
		seen[[4]int(round)] = true
		if slices.Sort(round); !slices.Equal(round, []int{0, 1, 2, 3}) {
			t.Errorf("a round of %v", round)
		}
	}
	if len(order) != rounds*len(all) || len(seen) < 2 {
		t.Errorf("%d turns in %d orders", len(order), len(seen))
	}
	for i, e := range all[1:] {
		if len(e.net) != rounds || e.net[3] != float64(i+1) {
			t.Errorf("%v ns", e.net)
		}
	}
}

// Every workload runs with every pool, and its figures make a table.
func TestALeagueOfOneRound(t *testing.T) {
	table := table{contenders: all(), rounds: 1}
	for _, w := range league() {
		if w.size <= 4<<10 && w.procs == 2 {
			table.results = append(table.results, compete(w, table.contenders, 1, 0))
		}
	}
	for _, r := range table.results {
		for i, net := range r.net {
			if len(net) != 1 || net[0] < leastTime {
				t.Errorf("%s, %s: %v", r.name(), table.contenders[i].name, net)
			}
		}
	}
	if len(table.String()) == 0 {
		t.Error("no table")
	}
}
