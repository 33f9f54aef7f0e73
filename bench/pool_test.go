package main

import (
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// tally is a pool that counts.
type tally struct{ gets, puts atomic.Int64 }

func (p *tally) get(n int) (b slab.PooledBuffer, m []byte) { p.gets.Add(1); return b, make([]byte, n) }
func (p *tally) put(slab.PooledBuffer)                     { p.puts.Add(1) }

// A turn has as many operations as it says, and all but a churn put what they got.
func TestTurns(t *testing.T) {
	for _, w := range workloads {
		p := new(tally)
		turn := w.begin(p, w.size)
		turn(256)
		turn(1024)
		if n, out := p.gets.Load(), p.gets.Load()-p.puts.Load(); n != 1280 || w.size > 0 && out != 0 || out > 64 {
			t.Errorf("%s: %d operations, %d out", w.name, n, out)
		}
	}
}
