// Package refs has names of things that are out: two numbers, and a text of them. A name keeps nothing
// alive, is never given twice, and is good within the process.
//
// Package slab has its own table of what its names name, as its slots need no entry for it. The text is
// the same.
package refs

import (
	"math/rand/v2"
	"sync"
)

// A Name is the number of a table, drawn at random when the process starts, and one that counts up in
// that table. The zero Name names nothing.
type Name struct{ Table, Number uint64 }

// A Table has a value for each Name that it gave. It is safe for concurrent use. What a value reaches it
// keeps alive: so values have weak pointers.
type Table[V any] struct {
	number uint64
	mu     sync.Mutex // leaf
	last   uint64
	of     map[uint64]V
}

// New returns an empty Table.
func New[V any]() *Table[V] { return &Table[V]{number: rand.Uint64(), of: map[uint64]V{}} }

// Add returns a new Name of v.
func (t *Table[V]) Add(v V) Name {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.of[t.last] = v
	return Name{t.number, t.last}
}

// Find returns what n names. It reports false for a name that was removed, and for those of other tables
// and processes.
func (t *Table[V]) Find(n Name) (v V, ok bool) {
	if n.Table != t.number {
		return v, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok = t.of[n.Number]
	return v, ok
}

// Remove ends a name of t. It does nothing with one that has ended, and with the zero Name.
func (t *Table[V]) Remove(n Name) {
	if n == (Name{}) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, n.Number)
}

// Len returns how many names have not ended.
func (t *Table[V]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.of)
}
