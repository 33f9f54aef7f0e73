package knotted

// A Pair has a field that another file reads.
type Pair[T any] struct {
	First  T
	second T
}

func sum(p Pair[int]) int { return p.Sum() }
