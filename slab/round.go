package slab

import "math/bits"

// roundUp returns the least multiple of a power of two that is at least n.
func roundUp(n, to int) int { return (n + to - 1) &^ (to - 1) }

func roundDown(n, to int) int { return n &^ (to - 1) }

func bitLen(n uint) int { return bits.Len(n) }
