package slab

// A pool with Config.Overflow hands out plain Go memory where it has no room. That memory is of another pool, on the Go
// heap, which has no bound and holds nothing. So such buffers have all that buffers have, and the collector finds those
// that are forgotten.

// orMake ends a Get that has failed with err: by plain memory, if the pool may make some.
func (p *pool) orMake(size int, how effort, err error) (PooledBuffer, error) {
	if p.over != nil && how == fully && outOfMemory(err) {
		if b, failed := p.over.get(size, p.over.cache.Uncached(), fully); failed == nil {
			return b, nil
		}
	}
	return PooledBuffer{}, p.failed(err, how)
}
