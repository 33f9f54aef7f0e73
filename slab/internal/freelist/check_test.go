package freelist

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/invariants"
)

// keyed returns a List whose nodes 1 to 4 are blocks of the keys 5, 5, 7 and 7, of 10 bytes each, an epoch apart.
func keyed() *List {
	l := New(unbounded)
	for i, key := range []int{5, 5, 7, 7} {
		l.Push(key, device.Block{Off: i}, 10, nil)
		l.epoch++
	}
	return l
}

// What check promises of queue, stacks and counters it looks at: it finds each single fault.
func TestCheckFindsEachFault(t *testing.T) {
	for fault, damage := range map[string]func(l *List){
		"the queue leads back to another": func(l *List) { l.nodes[3].prev = 1 },
		"the second is older":             func(l *List) { l.nodes[1].stamp, l.nodes[2].stamp = 1, 0 },
		"the last is older":               func(l *List) { l.nodes[4].stamp = 1 },
		"a byte too many":                 func(l *List) { l.bytes++ },
		"a block too many":                func(l *List) { l.blocks++ },
		"a node is lost":                  func(l *List) { l.nodes = append(l.nodes, node{}) },
		"a node is vacant and in use":     func(l *List) { l.vacant = append(l.vacant, 2) },
		"a block of another key":          func(l *List) { l.nodes[1].key = 7 },
		"a block above the top":           func(l *List) { l.nodes[4].above = 1 },
		"no block above one below":        func(l *List) { l.nodes[3].above = 0 },
		"a stack ends early":              func(l *List) { l.nodes[4].down = 0 },
		"a stack without a bit":           func(l *List) { l.keys.Clear(7) },
		"a bit without a stack":           func(l *List) { l.keys.Set(6) },
		"a key without its stack":         func(l *List) { delete(l.tops, 7); l.keys.Clear(7) },
	} {
		l := keyed()
		if err := l.check(); err != nil {
			t.Fatal(err)
		}
		if damage(l); l.check() == nil {
			t.Errorf("%s: not found", fault)
		}
	}
}

// Epochs may overflow: what matters is which of two is later.
func TestAgesOutliveTheirNumbers(t *testing.T) {
	l := New(unbounded)
	for _, l.epoch = range []uint32{1<<31 - 1, 1 << 31, 1<<32 - 1, 0, 1} {
		l.hold(5, device.Block{}, 10)
	}
	if err := l.check(); err != nil {
		t.Error(err)
	}
}

// A check build finds a fault at the next step of a short list, in a long one not much before it has taken as many steps
// as there are blocks, and not after. Other builds do not look.
func TestCheckBuildsLookAtEachStepOfAShortList(t *testing.T) {
	for _, c := range []struct{ blocks, least, most int }{{1, 1, 1}, {10, 1, 1}, {1000, 900, 1000}} {
		l := New(unbounded)
		for range c.blocks {
			l.Push(5, device.Block{}, 10, nil)
		}
		if l.steps = 0; !invariants.Enabled {
			c.least, c.most = 0, 0
		}
		l.keys.Grow(6)
		l.keys.Set(6)
		if n := stepsToAPanic(l); n < c.least || n > c.most {
			t.Errorf("%d blocks: a fault is found after %d steps, want %d to %d", c.blocks, n, c.least, c.most)
		}
	}
}

// stepsToAPanic returns which step panics, 0 if none does while all blocks leave once and come back.
func stepsToAPanic(l *List) (n int) {
	defer func() {
		if recover() == nil {
			n = 0
		}
	}()
	for range l.blocks {
		n++
		b, _ := l.Pop(5)
		n++
		l.hold(5, b, 10)
	}
	return n
}
