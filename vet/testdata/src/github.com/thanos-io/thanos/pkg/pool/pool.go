// Package pool is a stub for tests.
package pool

type BucketedPool[T any] struct{}

func (p *BucketedPool[T]) Get(sz int) (*[]T, error) { return nil, nil }
func (p *BucketedPool[T]) Put(b *[]T)               {}
