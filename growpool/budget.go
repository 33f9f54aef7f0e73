package growpool

import (
	"sync"
	"sync/atomic"
)

// A budget counts the bytes of a pool's buffers, and refuses more than it may
// have: whoever makes a buffer reserves its bytes before and frees them
// after the memory is gone.
//
// The bookkeeping of a key takes memory too, perKey bytes. It is counted
// against room, in a budget that has one.
type budget struct {
	mu         sync.Mutex // leaf
	max        int64      // of buffers
	room       int64      // of buffers and their bookkeeping
	perKey     int64
	held, peak int64
	buffers    int64

	forgotten atomic.Int64 // bytes that were left to the collector since it was last asked
	valve     int64        // when to ask it, 0 is never
}

func (b *budget) reserve(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if int64(n) > b.max-b.held || b.held+int64(n)+(b.buffers+1)*b.perKey > b.room {
		return false
	}
	b.held += int64(n)
	b.buffers++
	b.peak = max(b.peak, b.held)
	return true
}

func (b *budget) free(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= int64(n)
	b.buffers--
}

func (b *budget) usage() (held, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, b.peak
}

// refusal is the error of a reserve that failed.
func (b *budget) refusal(n int) error {
	held, _ := b.usage()
	return &BudgetError{Bytes: int64(n), Held: held, MaxBytes: b.max}
}
