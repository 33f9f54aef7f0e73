package main

import (
	"math/bits"
	"sync"
)

// powers are sync.Pools, one for each power of two of a length.
type powers[P any] [bits.UintSize]sync.Pool

func class(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

func roundUp(n int) int { return 1 << class(n) }

// get returns what was put for this length, or none.
func (p *powers[P]) get(n int) (found P) {
	found, _ = p[class(n)].Get().(P)
	return found
}

// put keeps what has a length that roundUp has returned.
func (p *powers[P]) put(n int, kept P) { p[class(n)].Put(kept) }
