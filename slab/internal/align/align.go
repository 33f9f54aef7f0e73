// Package align rounds to powers of two.
package align

// Up returns the least multiple of a power of two that is at least n.
func Up(n, to int) int { return (n + to - 1) &^ (to - 1) }

// Down returns the largest multiple of a power of two that is at most n.
func Down(n, to int) int { return n &^ (to - 1) }
