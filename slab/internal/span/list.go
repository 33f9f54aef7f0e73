package span

// A List knows all spans of a strategy: which of their blocks are free, and
// which spans of a class have any. Its owner knows where the memory of a span is:
// that is the span's M. Spans have numbers from 1. A List takes no lock.
type List[M any] struct {
	spans   []Span[M] // span 0 is none
	vacant  []int32
	classes []class
	counts  Counts
	steps   int // since the last check, in check builds
}

// Counts is what the spans of a List hold.
type Counts struct {
	FreeBlocks, FreeBytes int64
	TailBytes             int64 // what spans have beyond their blocks
	QuarantinedBytes      int64 // of blocks that will not come back
}

type class struct {
	partial int32 // spans with a free block, last used first
	live    int   // blocks out
}

// NewList returns a List for a number of size classes.
func NewList[M any](classes int) *List[M] {
	return &List[M]{spans: make([]Span[M], 1), classes: make([]class, classes)}
}

// At returns a span by its number.
func (l *List[M]) At(i int32) *Span[M] { return &l.spans[i] }

// Max returns the largest number that a span may have.
func (l *List[M]) Max() int32 { return int32(len(l.spans) - 1) }

// Classes returns the number of size classes.
func (l *List[M]) Classes() int { return len(l.classes) }

// Live returns the number of blocks of a class that are out.
func (l *List[M]) Live(class int) int { return l.classes[class].live }

// Counts returns what is free in all spans.
func (l *List[M]) Counts() Counts { return l.counts }

// Add makes bytes of memory a span of the class, whose blocks have size bytes.
func (l *List[M]) Add(class, size, bytes int, mem M) int32 {
	s := newSpan(class, size, bytes, mem)
	var i int32
	if k := len(l.vacant); k > 0 {
		i = l.vacant[k-1]
		l.vacant = l.vacant[:k-1]
		l.spans[i] = s
	} else {
		i = int32(len(l.spans))
		l.spans = append(l.spans, s)
	}
	l.counts.FreeBlocks += int64(s.n)
	l.counts.FreeBytes += int64(s.n) * int64(size)
	l.counts.TailBytes += int64(bytes) - int64(s.n)*int64(size)
	l.link(i)
	l.verify()
	return i
}

// Pop takes a free block of the class for size bytes: its span and its offset there.
func (l *List[M]) Pop(class, size int) (i int32, off int, ok bool) {
	k := &l.classes[class]
	i = k.partial
	if i == 0 {
		return 0, 0, false
	}
	s := &l.spans[i]
	off = s.pop(size)
	if s.nfree == 0 {
		l.unlink(i)
	}
	k.live++
	l.counts.FreeBlocks--
	l.counts.FreeBytes -= int64(s.Size)
	l.verify()
	return i, off, true
}

// IsOut reports whether a block begins at off of span i and is out for size bytes.
func (l *List[M]) IsOut(i int32, off, size int) bool { return l.spans[i].isOut(off, size) }

// Push takes a block back, which is out, and reports whether its span is wholly
// free now.
func (l *List[M]) Push(i int32, off int) (empty bool) {
	s := &l.spans[i]
	s.push(off)
	if s.nfree == 1 {
		l.link(i)
	}
	l.classes[s.class].live--
	l.counts.FreeBlocks++
	l.counts.FreeBytes += int64(s.Size)
	l.verify()
	return s.nfree == s.n
}

// Quarantine says that a block of span i, which is out, will never come back. It reports
// whether none of the span will; the owner may then remove it.
func (l *List[M]) Quarantine(i int32) (all bool) {
	s := &l.spans[i]
	s.quarantined++
	l.counts.QuarantinedBytes += int64(s.Size)
	l.verify()
	return s.quarantined == s.n
}

// Remove forgets span i, whose blocks are free or in quarantine.
func (l *List[M]) Remove(i int32) M {
	s := l.spans[i]
	if s.nfree > 0 {
		l.unlink(i)
	}
	l.counts.FreeBlocks -= int64(s.nfree)
	l.counts.FreeBytes -= int64(s.nfree) * int64(s.Size)
	l.counts.QuarantinedBytes -= int64(s.quarantined) * int64(s.Size)
	l.counts.TailBytes -= int64(s.bytes) - int64(s.n)*int64(s.Size)
	l.classes[s.class].live -= int(s.n - s.nfree)
	l.spans[i] = Span[M]{}
	l.vacant = append(l.vacant, i)
	l.verify()
	return s.Mem
}

// Quarantined returns the spans that have such blocks, and none besides that are not free.
func (l *List[M]) Quarantined() (list []int32) {
	if l.counts.QuarantinedBytes == 0 {
		return nil
	}
	for i := range l.spans {
		if l.IsLost(int32(i)) {
			list = append(list, int32(i))
		}
	}
	return list
}

// IsLost reports whether span i is one of those.
func (l *List[M]) IsLost(i int32) bool {
	s := &l.spans[i]
	return s.quarantined > 0 && s.quarantined+s.nfree == s.n
}

// link puts span i at the front of its class's list.
func (l *List[M]) link(i int32) {
	s := &l.spans[i]
	k := &l.classes[s.class]
	s.prev, s.next = 0, k.partial
	if s.next != 0 {
		l.spans[s.next].prev = i
	}
	k.partial = i
}

// unlink takes span i out of it. The links of a span that is in no list are never read.
func (l *List[M]) unlink(i int32) {
	s := &l.spans[i]
	if s.next != 0 {
		l.spans[s.next].prev = s.prev
	}
	if s.prev != 0 {
		l.spans[s.prev].next = s.next
	} else {
		l.classes[s.class].partial = s.next
	}
}

// HasOthers reports whether another span of its class has free blocks, where
// span i has some.
func (l *List[M]) HasOthers(i int32) bool {
	s := &l.spans[i]
	return s.prev != 0 || s.next != 0
}
