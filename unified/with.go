package unified

// With calls f with a buffer of the pool that is f's alone, as [Acquire] returns it, and releases it
// when f returns or panics. f must not keep the buffer, nor slices or blocks of it; it may release the
// buffer earlier. What f returns is the error; that of Acquire comes without a call of f.
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
