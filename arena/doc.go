// Package arena cuts many small pieces from pooled memory, and frees all of them at once.
//
//	a := arena.New(pool)
//	defer a.Release()
//	for request := range requests {
//		key, err := a.Get(40)                  // bytes
//		points, err := arena.Make[point](a, 9) // values
//		...
//		a.Reset() // all of this round is free
//	}
//
// Use it for a request, a batch or a frame: a piece takes a few instructions, and nobody has to
// keep its handle. It is not for pieces that live longer than the others, nor for one that another
// goroutine gives back: [slab.Pool.Get] has handles, and [slab.Make] is for large arrays.
package arena
