package growpool

import "github.com/bufslab/bufslab/device"

// The methods of the View, which a nil Lease has, too.

// shown is the View of l, the zero View for a nil Lease.
func (l *Lease[T]) shown() View[T] {
	if l == nil {
		return View[T]{}
	}
	return l.View
}

// Slice is [View.Slice]. Slice and the methods below are those of the zero View for a nil
// Lease, and after Release.
func (l *Lease[T]) Slice() []T { return l.shown().Slice() }

// Shape is [View.Shape].
func (l *Lease[T]) Shape() []int { return l.shown().Shape() }

// Len is [View.Len].
func (l *Lease[T]) Len() int { return l.shown().Len() }

// Valid is [View.Valid].
func (l *Lease[T]) Valid() bool { return l.shown().Valid() }

// At is [View.At].
func (l *Lease[T]) At(i ...int) T { return l.shown().At(i...) }

// Set is [View.Set].
func (l *Lease[T]) Set(x T, i ...int) { l.shown().Set(x, i...) }

// Row is [View.Row].
func (l *Lease[T]) Row(i ...int) []T { return l.shown().Row(i...) }

// Block is [View.Block].
func (l *Lease[T]) Block() device.Block { return l.shown().Block() }
