package span

import (
	"fmt"
	"math/bits"

	"github.com/bufslab/bufslab/internal/invariants"
)

// verify panics where check finds a fault, in check builds: after each step
// while there are few spans, with many after as many steps.
func (l *List[M]) verify() {
	if !invariants.Enabled {
		return
	}
	if l.steps++; len(l.spans) > 20 && l.steps < len(l.spans) {
		return
	}
	l.steps = 0
	if err := l.check(); err != nil {
		panic("slab: span: " + err.Error())
	}
}

// check walks all spans and the lists of all classes: bits and counts agree,
// and the list of a class has exactly its spans with a free block.
func (l *List[M]) check() error {
	var sum Counts
	partial, live := make([]int, len(l.classes)), make([]int, len(l.classes))
	for i := range l.spans {
		s := &l.spans[i]
		if s.n == 0 {
			continue
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("span %d: %w", i, err)
		}
		if s.nfree > 0 {
			partial[s.class]++
		}
		live[s.class] += int(s.n - s.nfree)
		sum.FreeBlocks += int64(s.nfree)
		sum.FreeBytes += int64(s.nfree) * int64(s.Size)
		sum.QuarantinedBytes += int64(s.quarantined) * int64(s.Size)
		sum.TailBytes += int64(s.bytes) - int64(s.n)*int64(s.Size)
	}
	if sum != l.counts {
		return fmt.Errorf("counts %+v, but spans have %+v", l.counts, sum)
	}
	for k := range l.classes {
		if n, err := l.checkClass(k); err != nil || n != partial[k] || l.classes[k].live != live[k] {
			return fmt.Errorf("class %d: %d spans listed of %d, %d blocks out of %d: %v", k, n, partial[k],
				l.classes[k].live, live[k], err)
		}
	}
	return nil
}

// check verifies the bits of one span.
func (s *Span[M]) check() error {
	n := 0
	for w, word := range s.free {
		if word != 0 && w < int(s.hint) {
			return fmt.Errorf("word %d has a free block before hint %d", w, s.hint)
		}
		n += bits.OnesCount64(word)
	}
	if n != int(s.nfree) || int(s.n) != s.bytes/s.Size || s.quarantined < 0 || s.quarantined > s.n-s.nfree {
		return fmt.Errorf("%d of %d blocks in %d bytes are free, %d counted", n, s.n, s.bytes, s.nfree)
	}
	return nil
}

// checkClass walks the list of a class and returns its length.
func (l *List[M]) checkClass(class int) (n int, err error) {
	for prev, i := int32(0), l.classes[class].partial; i != 0; prev, i = i, l.spans[i].next {
		if s := &l.spans[i]; s.prev != prev || s.nfree == 0 || int(s.class) != class {
			return n, fmt.Errorf("span %d after %d: prev %d, %d free, class %d", i, prev, s.prev, s.nfree, s.class)
		}
		n++
	}
	return n, nil
}
