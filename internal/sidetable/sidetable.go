// Package sidetable keeps values beside objects, for packages that know something of an object
// which the object itself does not.
package sidetable

import (
	"runtime"
	"sync"
	"unsafe"
	"weak"
)

// A Table has a value for each object that it was asked of. It keeps no object alive, and its value
// goes with the object. A Table is safe for concurrent use. The zero Table is empty, and makes zero
// values.
type Table[K, V any] struct {
	// Make returns the value of an object; nil is new(V). The value must not reach the object.
	Make func(*K) *V

	entries sync.Map   // of *entry, by the address of the object
	mu      sync.Mutex // of those who add
}

// An entry knows its object: another one may have the address before the entry is removed.
type entry[K, V any] struct {
	of    weak.Pointer[K]
	value *V
}

// Of returns the value of an object, the same one at each call. It takes no lock but for the first
// call for an object, which makes the value. k must not be nil.
func (t *Table[K, V]) Of(k *K) *V {
	if e := t.find(k); e != nil {
		return e.value
	}
	return t.add(k)
}

func (t *Table[K, V]) find(k *K) *entry[K, V] {
	e, ok := t.entries.Load(addressOf(k))
	if !ok || e.(*entry[K, V]).of.Value() != k {
		return nil
	}
	return e.(*entry[K, V])
}

func (t *Table[K, V]) add(k *K) *V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.find(k); e != nil {
		return e.value
	}
	e := &entry[K, V]{of: weak.Make(k)}
	if t.Make != nil {
		e.value = t.Make(k)
	} else {
		e.value = new(V)
	}
	at := addressOf(k)
	t.entries.Store(at, e)
	runtime.AddCleanup(k, func(e *entry[K, V]) { t.entries.CompareAndDelete(at, e) }, e)
	return e.value
}

// Len returns the number of objects that have a value, those included that the collector has not
// found yet.
func (t *Table[K, V]) Len() (n int) {
	for range t.entries.Range {
		n++
	}
	return n
}

func addressOf[K any](k *K) uintptr { return uintptr(unsafe.Pointer(k)) }
