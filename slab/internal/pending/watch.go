package pending

import (
	"slices"

	"github.com/bufslab/bufslab/device"
)

// One goroutine waits for each stream that blocks wait for, as one stream may never end while another does.

// Watch returns a stream that blocks wait for and that no goroutine watches. From now on the caller does, until
// Unwatch.
func (q *Queue) Watch() (s device.Stream, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.queues {
		if !slices.Contains(q.watched, l.stream) {
			q.watched = append(q.watched, l.stream)
			return l.stream, true
		}
	}
	return nil, false
}

// Unwatch undoes Watch.
func (q *Queue) Unwatch(s device.Stream) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.watched = slices.DeleteFunc(q.watched, func(x device.Stream) bool { return x == s })
}

// SyncFirst waits until s has done what the first block of its queue waits for. It reports false if no block waits for
// s. Then the block waits for its next stream, or TakeDone finds it.
func (q *Queue) SyncFirst(s device.Stream) bool {
	number, event := q.first(s)
	if event == nil {
		return false
	}
	_ = event.Sync() // as in Block.Sync
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.find(s)
	if l == nil || l.blocks[0].number != number { // another goroutine has the block
		return true
	}
	b := l.blocks[0]
	if b.uses = b.uses[1:]; len(b.uses) > 0 {
		q.enqueue(q.dequeue(l, 0))
	}
	return true
}

// first returns the number of the first block of a stream's queue, and what it waits for.
func (q *Queue) first(s device.Stream) (uint64, device.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.find(s)
	if l == nil {
		return 0, nil
	}
	return l.blocks[0].number, l.blocks[0].uses[0].event
}
