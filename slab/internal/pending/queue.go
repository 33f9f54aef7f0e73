// Package pending keeps blocks that were released before the streams that use them
// were done: in neither a cache nor the strategy.
//
//	uses.go    which streams use which block
//	block.go   a block that waits for its uses
//	queue.go   where blocks wait
//	watch.go   the goroutines that wait for streams
package pending

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A Queue holds the blocks that wait, and knows the streams that use blocks which are
// out. Its zero value is ready for use. It is safe for concurrent use.
type Queue struct {
	length atomic.Int64 // of all queues

	mu      sync.Mutex // leaf, but for what an event is asked
	streams map[handle.ID][]device.Stream
	queues  []*streamQueue
	watched []device.Stream // that a goroutine waits for
	number  uint64
	waiting handle.Tally
	stopped bool // nothing waits any more
}

// A streamQueue holds the blocks that wait for a stream before they wait for
// anything else, the oldest first.
type streamQueue struct {
	stream device.Stream
	blocks []*Block
}

// Len returns the number of blocks that wait.
func (q *Queue) Len() int64 { return q.length.Load() }

// Waiting counts the blocks that wait and will be free.
func (q *Queue) Waiting() handle.Tally {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

// Add lets b wait, also if an event panics. It reports false where there is nothing to wait for, or nothing
// is to wait any more.
func (q *Queue) Add(b *Block) (waits bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if waits = !q.stopped; waits {
		defer func() {
			if waits {
				q.add(b)
			}
		}()
		waits = !b.done()
	}
	return waits
}

// add is Add of what waits. The caller holds mu.
func (q *Queue) add(b *Block) {
	q.length.Add(1)
	if !b.Escaped {
		q.waiting.Add(b.Slot.Len())
	}
	q.enqueue(b)
}

// Stop makes Add refuse from now on.
func (q *Queue) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
}

// TakeDone takes out a block whose uses are over, or returns nil. A stream does its work
// in order, so only the first block of each queue is looked at.
func (q *Queue) TakeDone() *Block {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := 0; i < len(q.queues); {
		l := q.queues[i]
		b := l.blocks[0]
		switch {
		case b.done():
			return q.remove(l, 0)
		case b.uses[0].stream == l.stream:
			i++
		default: // its next use is another stream's
			q.enqueue(q.dequeue(l, 0))
		}
	}
	return nil
}

// lookBack bounds how far TakeFor looks for a block: sizes repeat, so what fits is
// near.
const lookBack = 256

// TakeFor takes out the smallest of the latest blocks that wait for s alone and have
// size bytes, and at most twice as many. It returns nil if there is none.
func (q *Queue) TakeFor(s device.Stream, size int) *Block {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.find(s)
	if l == nil {
		return nil
	}
	best := -1
	for i := len(l.blocks) - 1; i >= max(0, len(l.blocks)-lookBack); i-- {
		b := l.blocks[i]
		if len(b.uses) > 1 || !b.Fits(size, size) || best >= 0 && l.blocks[best].Slot.Len() <= b.Slot.Len() {
			continue
		}
		if best = i; b.Slot.Len() == size {
			break
		}
	}
	if best < 0 {
		return nil
	}
	return q.remove(l, best)
}

// TakeOldest takes out the block that has waited longest of those that are wanted, or
// returns nil.
func (q *Queue) TakeOldest(wanted func(*Block) bool) *Block {
	q.mu.Lock()
	defer q.mu.Unlock()
	var in *streamQueue
	at := -1
	for _, l := range q.queues {
		i := slices.IndexFunc(l.blocks, wanted)
		if i >= 0 && (in == nil || l.blocks[i].number < in.blocks[at].number) {
			in, at = l, i
		}
	}
	if in == nil {
		return nil
	}
	return q.remove(in, at)
}

// Oldest returns the block that has waited longest, which stays, and what waits for its
// uses. Another goroutine may take it out meanwhile.
func (q *Queue) Oldest() (b *Block, sync func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.queues {
		if b == nil || l.blocks[0].number < b.number {
			b = l.blocks[0]
		}
	}
	if b == nil {
		return nil, nil
	}
	seen := Block{uses: b.uses} // as done may drop some of them
	return b, seen.Sync
}

// remove takes the block at i of a queue out for good. The caller holds mu.
func (q *Queue) remove(l *streamQueue, i int) *Block {
	b := q.dequeue(l, i)
	q.length.Add(-1)
	if !b.Escaped {
		q.waiting.Sub(b.Slot.Len())
	}
	return b
}

// enqueue puts b at the end of the queue of its first use, a new one if need be. The
// caller holds mu.
func (q *Queue) enqueue(b *Block) {
	l := q.find(b.uses[0].stream)
	if l == nil {
		l = &streamQueue{stream: b.uses[0].stream}
		q.queues = append(q.queues, l)
	}
	q.number++
	b.number = q.number
	l.blocks = append(l.blocks, b)
}

// dequeue undoes enqueue. It leaves no trace: a queue must not keep a slot alive
// whose owner is to be found gone. The caller holds mu.
func (q *Queue) dequeue(l *streamQueue, i int) *Block {
	b := l.blocks[i]
	if l.blocks = slices.Delete(l.blocks, i, i+1); len(l.blocks) == 0 {
		q.queues = slices.DeleteFunc(q.queues, func(x *streamQueue) bool { return x == l })
	}
	return b
}

// find returns the queue of a stream, or nil. There are as many as streams that work,
// so a list is all it takes. The caller holds mu.
func (q *Queue) find(s device.Stream) *streamQueue {
	if i := slices.IndexFunc(q.queues, func(l *streamQueue) bool { return l.stream == s }); i >= 0 {
		return q.queues[i]
	}
	return nil
}
