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
// Use an Arena for a request, a batch or a frame: a piece takes a few instructions, and has no
// handle to keep. Arenas are not for pieces that live longer than the others, nor for pieces that
// another goroutine gives back: [slab.Pool.Get] has handles. For large arrays take [slab.Make].
package arena
