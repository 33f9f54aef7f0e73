// Package growpool keeps a buffer for each key that grows to the largest request. [Acquire] leases it.
//
// Programs that work on one cell of a grid, file or request after the other need the same few arrays
// each time, in sizes that vary. A Pool gives each array a key and keeps the largest buffer that the
// key ever needed. A smaller request is a window on that buffer, without a copy and without an
// allocation:
//
//	memory, err := slab.OpenConfig(slab.Config{}) // or any other slab.Pool
//	pool := growpool.New[string](memory, growpool.Config{})
//	for _, cell := range cells {
//		coeff, err := growpool.Acquire[float64](ctx, pool, "coeff", cell.Rows, cell.Columns)
//		...
//		m := mat.NewDense(cell.Rows, cell.Columns, coeff.Slice())
//		coeff.Release() // or growpool.With, which releases by itself
//	}
//
// A lease is the caller's alone. [Get] is for a single goroutine that uses an array until the next Get
// of its key: there is nothing to release, and what it has shown comes back late (see below).
//
// If streams of a device work on the memory, say so before Release. Then Release need not wait:
//
//	l, err := growpool.AcquireOn[float32](ctx, pool, "scratch", stream, n) // or l.UsedOn(stream)
//	err = stream.Copy(l.Block(), from)
//	l.Release()
//
// The cast:
//
//	Pool      finds the buffer of a key; its memory is a slab.Pool's
//	Acquire   returns a Lease, a View that is the caller's alone until Release
//	Get       returns a View of the buffer, after it has grown if need be
//	View      a window: Slice, At, Set and Row; stale once a later Get replaced the buffer
//	UsedOn    says which streams work on a buffer; its next owner comes after them
//	Growth    how large a buffer becomes: Exact, Pow2, Factor, Steps
//	budget    bounds all buffers (Config.MaxBytes); a ristretto cache says which keys keep theirs
//
// # Where old memory goes
//
// The contents of a buffer that grows are not kept. So the old memory goes before the new memory is
// taken, and the pool never has both. But memory that the program can still see cannot go back:
//
//	shown by                memory     the old buffer
//	Acquire only            any        goes back to the slab.Pool before the larger one is taken
//	Get                     Go heap    comes back when no View and no slice of it is left
//	Get, by At and Set      elsewhere  comes back when no View is left (above 4 KiB)
//	Get, by Slice or Row    elsewhere  is not used again: above 4 KiB its pages go back at once
//	                                   when no View is left, below it stays active
//
// So a program that grows often off the heap uses Acquire. To grow a buffer that Get has shown takes
// old and new memory together, until the collector has run. To grow a buffer that was only acquired
// never takes more than the new memory. Old memory that Get has shown is not in the budget, and stays
// active until a collection finds no View. A pool with a budget runs the collector now and then for
// that, see Config.GCTrigger. On the heap a small buffer shares a slab with others, and comes back
// with the last of them.
//
// # What it is not for
//
// Data that has to last, such as a series that grows: the contents are lost when the array grows, when a
// budget takes it, and when the next caller writes. Keep a handle of package slab for it: its Grow keeps them.
// Elements with pointers: the collector does not look into buffers.
package growpool
