package growpool

import "context"

// With calls f with a lease of the key, as [Acquire] returns it, and releases it when f returns or
// panics. f must not keep the lease, nor slices or blocks of it; it may release the lease earlier. If f
// enqueues work on a stream, it calls [Lease.UsedOn]. With returns the error of f. If Acquire fails,
// With returns that error and does not call f.
//
// It is safe for concurrent use, as the pool is.
func With[T any, K comparable](ctx context.Context, p *Pool[K], key K, shape []int, f func(l *Lease[T]) error) error {
	l, err := Acquire[T](ctx, p, key, shape...)
	if err != nil {
		return err
	}
	defer l.Release()
	return f(l)
}
