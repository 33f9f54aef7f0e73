package knotted

// Use uses the others.
func Use() int { return sum(Pair[int]{second: 1}) }
