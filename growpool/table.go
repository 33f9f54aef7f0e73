package growpool

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A table finds the entry of a key without a lock. The slots are an array of
// pointers, searched one after the other from where the key's hash says. The
// array is replaced as a whole when it is half full. A slot whose entry was
// removed has a grave, so that searches go on behind it.
type table[K comparable] struct {
	slots  atomic.Pointer[slots[K]]
	number bool // keys are integers of 64 bits
	secret [2]uint64
	seed   maphash.Seed
	hand   atomic.Uint64 // where all begins

	mu   sync.Mutex // for changes; leaf
	live int        // entries
	used int        // slots that are not nil
	dug  entry[K]   // the grave
}

type slots[K comparable] struct {
	mask uint64
	at   []atomic.Pointer[entry[K]]
}

const leastSlots = 64

func (t *table[K]) init() {
	t.seed = maphash.MakeSeed()
	t.secret = [2]uint64{maphash.Comparable(t.seed, 0), maphash.Comparable(t.seed, 1) | 1}
	switch reflect.TypeFor[K]().Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr:
		t.number = reflect.TypeFor[K]().Size() == 8
	}
	t.slots.Store(newSlots[K](leastSlots))
}

func newSlots[K comparable](n int) *slots[K] {
	return &slots[K]{uint64(n - 1), make([]atomic.Pointer[entry[K]], n)}
}

// hash of a 64-bit integer is a multiplication by a secret, with both halves of
// the product folded: a third of the time of the general hash.
func (t *table[K]) hash(key K) uint64 {
	if unsafe.Sizeof(key) == 8 && t.number {
		hi, lo := bits.Mul64(*(*uint64)(unsafe.Pointer(&key))^t.secret[0], t.secret[1])
		return hi ^ lo
	}
	return maphash.Comparable(t.seed, key)
}

// id returns the number of a key in the cache. The cache counts two keys as one if the low
// bits of their numbers are equal, and in some pools hash gives equal low bits to many
// integers in a row.
func (t *table[K]) id(key K) uint64 { return maphash.Comparable(t.seed, t.hash(key)) }

// find returns the entry of a key, or nil.
func (t *table[K]) find(key K) *entry[K] {
	s := t.slots.Load()
	for i := t.hash(key); ; i++ {
		e := s.at[i&s.mask].Load()
		if e == nil || e.key == key && e != &t.dug {
			return e
		}
	}
}

// add returns the entry of a key, a new entry if the key has none.
func (t *table[K]) add(key K) *entry[K] {
	if e := t.find(key); e != nil {
		return e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.find(key); e != nil {
		return e
	}
	s := t.slots.Load()
	if 2*(t.used+1) > len(s.at) {
		s = t.rebuild()
	}
	e := newEntry(key, t.id(key))
	e.hash = t.hash(key)
	t.used++
	t.live++
	s.put(e.hash, e)
	return e
}

// put fills the first empty slot: graves stay, as a search may be under way.
func (s *slots[K]) put(i uint64, e *entry[K]) {
	for s.at[i&s.mask].Load() != nil {
		i++
	}
	s.at[i&s.mask].Store(e)
}

// rebuild leaves the graves behind, and makes room for twice the entries.
func (t *table[K]) rebuild() *slots[K] {
	n := leastSlots
	for n < 4*(t.live+1) {
		n *= 2
	}
	s := newSlots[K](n)
	for e := range t.all() {
		s.put(e.hash, e)
	}
	t.used = t.live
	t.slots.Store(s)
	return s
}

// remove takes an entry out, if it is in.
func (t *table[K]) remove(e *entry[K]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slots.Load()
	for i := e.hash; ; i++ {
		switch s.at[i&s.mask].Load() {
		case nil:
			return
		case e:
			s.at[i&s.mask].Store(&t.dug)
			t.live--
			return
		}
	}
}

// all ranges over the entries, beginning where the last stopped loop ended.
// Entries that come or go meanwhile may be missed.
func (t *table[K]) all() iter.Seq[*entry[K]] {
	return func(yield func(*entry[K]) bool) {
		s, from := t.slots.Load(), t.hand.Load()
		for i := range uint64(len(s.at)) {
			if e := s.at[(from+i)&s.mask].Load(); e != nil && e != &t.dug && !yield(e) {
				t.hand.Store(from + i)
				return
			}
		}
	}
}
