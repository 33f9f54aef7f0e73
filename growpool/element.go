package growpool

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/bufslab/bufslab/internal/shape"
)

// An element is a type, known to the fast path by its descriptor's address,
// which costs nothing to get and to compare.
type element struct {
	word        unsafe.Pointer
	size, align uintptr
	typ         reflect.Type // for the slow path; from the same descriptor
}

// wordOf returns the word that tells T from all other types.
func wordOf[T any]() unsafe.Pointer {
	var p any = (*T)(nil)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

func elementOf[T any]() element {
	var zero T
	return element{wordOf[T](), unsafe.Sizeof(zero), unsafe.Alignof(zero), reflect.TypeFor[T]()}
}

// check checks the type alone.
func (e element) check() error {
	if e.size == 0 {
		return fmt.Errorf("growpool: type %v has no bytes: %w", e.typ, ErrElement)
	}
	if path := shape.Pointer(e.typ); path != "" {
		return fmt.Errorf("growpool: type %v holds pointers (%s): %w", e.typ, path, ErrElement)
	}
	return nil
}

// checkAt checks memory that has to hold elements.
func (e element) checkAt(p unsafe.Pointer) error {
	if off := uintptr(p) % e.align; off != 0 {
		return fmt.Errorf("growpool: type %v wants an alignment of %d bytes, the slab.Pool's memory lies %d bytes beside: %w",
			e.typ, e.align, off, ErrElement)
	}
	return nil
}
