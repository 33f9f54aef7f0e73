package knotted

// Sum is a method in another file than its type.
func (p Pair[T]) Sum() T { return p.First }
