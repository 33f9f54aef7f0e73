package main

import (
	"io"
	"time"
)

// A pool hands out n bytes and takes them back. H is what it needs to know them by: each
// pool has a handle of its own type, so that none pays for another's.
type pool[H any] interface {
	get(n int) (H, []byte)
	put(H)
}

// A contender is a pool with the type of its handle bound.
type contender struct {
	name  string
	start func(workload) player
}

func contend[H any](name string, open func() pool[H]) contender {
	return contender{name, func(w workload) player { return play(open(), w) }}
}

// A player does operations of one workload with one pool. All turns are of the same pool:
// it keeps between them what it has.
type player struct {
	turn  func(ops int) time.Duration
	close func() // puts back what is out, and gives the pool's memory back
}

func play[H any](p pool[H], w workload) player {
	putBack := func() {}
	var turn func(int) time.Duration
	switch w.kind {
	case hotPair:
		turn = pairs(p, w)
	case burst:
		turn = bursts(p, w)
	case churn:
		turn, putBack = churns(p, w)
	case handOver:
		turn = handOvers(p, w)
	}
	return player{turn, func() { putBack(); closePool(p) }}
}

func closePool(p any) {
	if c, ok := p.(io.Closer); ok {
		if err := c.Close(); err != nil {
			panic(err)
		}
	}
}

// A perGoroutine has a pool for each goroutine.
type perGoroutine[H any] interface{ of(g int) pool[H] }

// own returns what goroutine g uses of p.
func own[H any](p pool[H], g int) pool[H] {
	if each, ok := p.(perGoroutine[H]); ok {
		return each.of(g)
	}
	return p
}
