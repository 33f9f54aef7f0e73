package main

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// tally is a pool that counts.
type tally struct{ gets, puts, closed atomic.Int64 }

func (p *tally) get(n int) (int, []byte) { p.gets.Add(1); return n, make([]byte, max(n, 1)) }
func (p *tally) put(int)                 { p.puts.Add(1) }
func (p *tally) Close() error            { p.closed.Add(1); return nil }

func TestATurnHasAsManyOperationsAsItSays(t *testing.T) {
	for _, w := range counted() {
		for procs := 1; procs <= maxProcs; procs++ {
			turnOf256(t, w, procs)
		}
	}
}

func turnOf256(t *testing.T, w workload, procs int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
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
}
