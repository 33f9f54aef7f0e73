package freelist

import (
	"fmt"

	"github.com/bufslab/bufslab/internal/invariants"
)

// verify panics where check finds a fault, in check builds: after each step of
// a short list, of a long one after as many as it has blocks.
func (l *List) verify() {
	if !invariants.Enabled {
		return
	}
	if l.steps++; l.blocks > 100 && l.steps < l.blocks {
		return
	}
	l.steps = 0
	if err := l.check(); err != nil {
		panic("slab: freelist: " + err.Error())
	}
}

// check walks the queue and all stacks: each block is in both, ages do not
// fall, and the counters are what the walk finds.
func (l *List) check() error {
	var bytes int64
	queued := 0
	for prev, i := int32(0), l.nodes[0].next; i != 0; prev, i = i, l.nodes[i].next {
		n := &l.nodes[i]
		if n.prev != prev || prev != 0 && int32(n.stamp-l.nodes[prev].stamp) < 0 {
			return fmt.Errorf("node %d after %d: prev %d, stamp %d", i, prev, n.prev, n.stamp)
		}
		bytes += n.size
		queued++
	}
	if queued != l.blocks || bytes != l.bytes {
		return fmt.Errorf("%d bytes in %d blocks are queued, %d in %d counted", bytes, queued, l.bytes, l.blocks)
	}
	if records := len(l.nodes) - 1 - len(l.vacant); records != l.blocks {
		return fmt.Errorf("%d nodes in use for %d blocks", records, l.blocks)
	}
	return l.checkStacks()
}

func (l *List) checkStacks() error {
	stacked, ordered := 0, 0
	for key, top := range l.tops {
		if key != stranded {
			ordered++
		}
		if l.o.Ordered && key != stranded && l.keys.Next(key) != key {
			return fmt.Errorf("key %d has blocks and no bit", key)
		}
		for above, i := int32(0), top; i != 0; above, i = i, l.nodes[i].down {
			if n := &l.nodes[i]; n.key != key || n.above != above {
				return fmt.Errorf("node %d of key %d is below %d in the stack of key %d", i, n.key, n.above, key)
			}
			stacked++
		}
	}
	bits := 0
	for key := l.keys.Next(0); key >= 0; key = l.keys.Next(key + 1) {
		bits++
	}
	if l.o.Ordered && bits != ordered || stacked != l.blocks {
		return fmt.Errorf("%d blocks in stacks of %d keys, %d blocks in all, %d bits", stacked, ordered, l.blocks, bits)
	}
	return nil
}
