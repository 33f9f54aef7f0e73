package unified

// With calls f with a buffer of the pool that belongs to f alone, as [Acquire] returns it, and releases it
// when f returns or panics. f must not keep the buffer, nor slices or blocks of it; it may release the
// buffer earlier. With returns the error of f. If Acquire fails, With returns that error without a call
// of f.
//
// It is safe for concurrent use, as the pool is.
func With[T any](p *Pool, shape []int, f func(b *Buffer[T]) error) error {
	b, err := Acquire[T](p, shape...)
	if err != nil {
		return err
	}
	defer b.Release()
	return f(b)
}
