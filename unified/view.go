package unified

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// View returns the elements from i to below j, counted row by row, as a buffer of
// one dimension. The view shares memory and states with b: a write to one is a write
// to both. An access of the view copies only its elements. The view ends with b; to
// free a view of a part is an error. The error wraps device.ErrSize for a range that
// is not inside b.
func (b *Buffer[T]) View(i, j int) (*Buffer[T], error) {
	a, err := b.lock()
	if err != nil {
		return nil, err
	}
	a.mu.Unlock()
	if i < 0 || j < i || j > b.Len() {
		return nil, fmt.Errorf("unified: elements %d to %d of %d: %w", i, j, b.Len(), device.ErrSize)
	}
	return &Buffer[T]{a: b.a, own: b.own, lo: b.lo + i, hi: b.lo + j, shape: []int{j - i}}, nil
}
