package unified

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

// A Ref names a buffer, or a view of a buffer, and keeps nothing alive. It is a value of 16 bytes for
// messages, maps, logs and other goroutines, where the array itself would be too much. Get opens it,
// with shape, element type and residency. A Ref has a text, so it also passes through a queue or a
// library that carries only text.
//
// Copy a Ref, compare it, use it as the key of a map. Two buffers never have equal Refs, even if a
// [Pool] gave the second the array of the first. The zero Ref names nothing. All methods except
// UnmarshalText are safe for concurrent use, also during a Free.
//
// Keep the Buffer until Get has returned: a Ref does not keep it. For a Ref of a view it is enough to
// keep the view's buffer.
//
// A Ref is not for other processes and not for storage: there Get returns ErrReleased. A Ref is no
// permission either: everybody can write such a text. Do not open the text of a peer that you do not
// trust.
type Ref[T any] struct{ name refs.Name }

// Ref returns the Ref of b, the same in each call, and for views of b with the same elements and shape.
// It is the zero Ref for a nil or zero Buffer and after Free. The Ref ends with b, or with the buffer of a
// view b: after Free and Release its Get returns ErrReleased, even if other buffers share the memory.
//
// The first call for a part takes an entry in a map of the process, until the Ref ends. A buffer without
// a Ref pays nothing.
func (b *Buffer[T]) Ref() (r Ref[T]) {
	a, err := b.lock()
	if err != nil {
		return r
	}
	defer a.mu.Unlock()
	if b.own.names == nil {
		b.own.names = &names{map[part]refs.Name{}}
		runtime.AddCleanup(b.own, (*names).end, b.own.names) // of a buffer that the program forgets
	}
	x := part{b.lo, b.hi, len(b.shape)}
	name, ok := b.own.names.of[x]
	if !ok {
		name = buffers.Add(named{weak.Make(b.own), x, b.shape, reflect.TypeFor[T]()})
		b.own.names.of[x] = name
	}
	return Ref[T]{name}
}

// Get returns a further buffer of the array that r names. Buffers of an array share contents and states: a
// write to one is a write to all, on both sides. Free the new buffer on its own, in any order, also if r
// names a view. The memory stays until the last buffer is freed. A [Pool] does not count the new buffer as
// acquired or released; it counts the last call that gives the array back.
//
// The error is ErrReleased if the buffer was freed, released or forgotten since: Get never returns the
// array of another buffer. It is ErrReleased for the zero Ref and for a Ref of another process, too. It
// wraps ErrType if the elements are not of type T, which a text does not say.
func (r Ref[T]) Get() (*Buffer[T], error) {
	x, ok := buffers.Find(r.name)
	if !ok {
		return nil, ErrReleased
	}
	if t := reflect.TypeFor[T](); t != x.elem {
		return nil, fmt.Errorf("unified: a buffer of %v opened as one of %v: %w", x.elem, t, ErrType)
	}
	own := x.own.Value()
	if own == nil {
		return nil, ErrReleased
	}
	own.a.mu.Lock()
	defer own.a.mu.Unlock()
	if own.over {
		return nil, ErrReleased
	}
	own.a.leases++
	return lend[T](own.a, x.part, x.shape), nil
}

const refPrefix = "unifiedref-"

// String returns the text that UnmarshalText reads back to r: letters, digits and hyphens, of at most 44
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
