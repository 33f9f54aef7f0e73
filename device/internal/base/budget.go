package base

import "sync/atomic"

// A Budget counts bytes in use against a total, exactly: it never lets more be
// taken, not even for a moment. It is safe for concurrent use.
type Budget struct {
	Total int64
	used  atomic.Int64
}

// Take reports whether there was room for n bytes, and takes them then.
func (b *Budget) Take(n int64) bool {
	for {
		used := b.used.Load()
		if n > b.Total-used {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// Give returns n bytes that were taken.
func (b *Budget) Give(n int64) { b.used.Add(-n) }

// Free returns the bytes that are left.
func (b *Budget) Free() int64 { return b.Total - b.used.Load() }
