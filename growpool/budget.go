package growpool

import "sync"

// A budget counts the bytes of a pool's buffers. A buffer's bytes are reserved
// before its memory is taken, and freed after the memory has gone. The count is
// never more than max. The bookkeeping of a key takes perKey bytes more, which
// count against room.
type budget struct {
	mu       sync.Mutex // leaf
	max      int64      // of buffers
	room     int64      // of buffers and their bookkeeping
	perKey   int64
	pool     string // for errors
	held     int64  // and reserved
	reserved int64  // whose memory is not there yet
	peak     int64  // of held without reserved
	buffers  int64

	left left
}

// limit sets the most held bytes. A budget that is large compared with the cache, of fixed bytes,
// pays for the bookkeeping. A small budget is for buffers, and pays only for the
// bookkeeping beyond sixteen keys.
func (b *budget) limit(maxBytes, fixed, perKey int64) {
	b.max, b.perKey = maxBytes, perKey
	if fixed <= maxBytes/16 {
		b.room = maxBytes - fixed
		return
	}
	b.room = maxBytes + 16*perKey
}

func (b *budget) reserve(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if int64(n) > b.max-b.held || b.held+int64(n)+(b.buffers+1)*b.perKey > b.room {
		return false
	}
	b.held += int64(n)
	b.reserved += int64(n)
	b.buffers++
	return true
}

// had follows a reserve when the memory is there.
func (b *budget) had(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= int64(n)
	b.peak = max(b.peak, b.held-b.reserved)
}

// undo undoes a reserve: there was no memory.
func (b *budget) undo(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= int64(n)
	b.held -= int64(n)
	b.buffers--
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
	return b.held - b.reserved, b.peak
}

// refusal is the error after a reserve that failed.
func (b *budget) refusal(n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &BudgetError{Bytes: int64(n), Held: b.held, MaxBytes: b.max, Pool: b.pool}
}
