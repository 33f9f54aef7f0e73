package growpool

import (
	"strings"
	"testing"
	"unsafe"
)

func TestElementsWithPointersAreRefused(t *testing.T) {
	p := open(t, Config{})
	type deep struct {
		A int
		B [2]struct{ C []byte }
	}
	refused[string](t, p, "a string")
	refused[*int](t, p, "a ptr")
	refused[any](t, p, "a interface")
	refused[deep](t, p, "field B")
	refused[func()](t, p, "a func")
	refused[map[int]int](t, p, "a map")
	refused[struct{}](t, p, "no bytes")
	refused[[0]string](t, p, "no bytes")
	refused[unsafe.Pointer](t, p, "unsafe.Pointer")
	if len(p.Stats()) != 0 {
		t.Error(p.Stats())
	}
	mustGet[byte](t, p, "k", 100) // what would be a hit is refused, too
	refused[*int](t, p, "a ptr")
	refused[struct{}](t, p, "no bytes")
}

func refused[T any](t *testing.T, p *Pool[string], says string) {
	t.Helper()
	_, get := Get[T](p, "k", 1)
	_, acquire := Acquire[T](t.Context(), p, "k", 1)
	for _, err := range []error{get, acquire} {
		if wantError(t, err, ErrElement); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("no word of %q in %v", says, err)
		}
	}
}

func TestMisalignedMemoryIsRefused(t *testing.T) {
	e := elementOf[float64]()
	words := unsafe.Pointer(new([2]uint64))
	if err := e.checkAt(words); err != nil {
		t.Error(err)
	}
	wantError(t, e.checkAt(unsafe.Add(words, 2)), ErrElement)
}
