package growpool

import (
	"encoding"
	"fmt"
	"reflect"
	"runtime"
	"weak"

	"github.com/bufslab/bufslab/internal/refs"
	"github.com/bufslab/bufslab/slab"
)

var (
	_ encoding.TextMarshaler   = Ref[byte]{}
	_ encoding.TextUnmarshaler = (*Ref[byte])(nil)
)

// A Ref names a lease and keeps nothing alive. It is a value of 16 bytes for messages, maps, logs and
// other goroutines, where the array itself would be too much. Get opens it, with shape and element type.
// A Ref has a text, so it also passes through a queue or a library that carries only text.
//
// Copy a Ref, compare it, use it as the key of a map. Two leases never have equal Refs, even if the
// second has the buffer of the first. The zero Ref names nothing. All methods except UnmarshalText are
// safe for concurrent use, also during a Release.
//
// Keep the Lease until Get has returned: a Ref keeps neither the lease nor its pool.
//
// A Ref is not for other processes and not for storage: there Get returns ErrReleased. A Ref is no
// permission either: everybody can write such a text. Do not open the text of a peer that you do not
// trust.
type Ref[T any] struct{ name refs.Name }

// Ref returns the Ref of l, the same in each call: the zero Ref for a nil or zero Lease, and after
// Release. A lease without elements has a Ref, too. The Ref ends with l: after Release its Get returns
// ErrReleased, even if other leases share the memory.
//
// The first call for a lease takes an entry in a map of the process, until Release. A lease without a Ref
// pays nothing.
func (l *Lease[T]) Ref() (r Ref[T]) {
	if l == nil || l.from == nil {
		return r
	}
	u := &l.lent.uses
	u.mu.Lock()
	defer u.mu.Unlock()
	if l.released.Load() {
		return r
	}
	if l.name == (refs.Name{}) {
		l.name = leases.Add(named{reflect.TypeFor[T](), weak.Make(l)})
		runtime.AddCleanup(l, leases.Remove, l.name) // of one that the program forgets
	}
	return Ref[T]{l.name}
}

// Get returns a further lease of the array that r names. Release it on its own, in any order. The key is
// leased, and the memory stays, until the last of these leases is released. The caller guards reading
// and writing against the other leases, as with a slice that goroutines share. Stats and Config.Private
// ignore further leases; Close counts them among the active leases. Get works in a closed pool, for
// leases that are still active.
//
// The error is ErrReleased if the lease was released or forgotten since: Get never returns the array of
// another lease. It is ErrReleased for the zero Ref and for a Ref of another process, too. It wraps
// ErrElement if the elements of the lease are not of type T, which a text does not say.
func (r Ref[T]) Get() (*Lease[T], error) {
	x, ok := leases.Find(r.name)
	if !ok {
		return nil, ErrReleased
	}
	w, ok := x.lease.(weak.Pointer[Lease[T]])
	if !ok {
		return nil, fmt.Errorf("growpool: a lease of %v opened as one of %v: %w", x.elem, reflect.TypeFor[T](),
			ErrElement)
	}
	if l := w.Value(); l != nil {
		return l.share()
	}
	return nil, ErrReleased
}

// share returns a further lease of the memory of l.
func (l *Lease[T]) share() (*Lease[T], error) {
	u := &l.lent.uses
	u.mu.Lock()
	defer u.mu.Unlock()
	if l.released.Load() {
		return nil, ErrReleased
	}
	u.holders++
	l.from.count(1)
	return &Lease[T]{View: l.View, from: l.from, entry: l.entry, lent: l.lent}, nil
}

const refPrefix = "leaseref-"

// String returns the text that UnmarshalText reads back to r: letters, digits and hyphens, of at most 42
// bytes. It is the same for equal Refs.
func (r Ref[T]) String() string { return r.name.Text(refPrefix) }

// MarshalText returns the text of String, and no error. So a Ref is a string in JSON, also as the key of
// a map.
func (r Ref[T]) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the text that String returns. For any other text the error is a *[slab.RefError],
// and r is as before. It is not safe for concurrent use.
func (r *Ref[T]) UnmarshalText(text []byte) error {
	n, ok := refs.Parse(refPrefix, string(text))
	if !ok {
		return &slab.RefError{Text: string(text)}
	}
	r.name = n
	return nil
}
