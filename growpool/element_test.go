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
	refuse := func(name string, err error, says string) {
		t.Helper()
		wantError(t, err, ErrElement)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: no word of %q in %v", name, says, err)
		}
	}
	_, err := Get[string](p, "k", 1)
	refuse("string", err, "a string")
	_, err = Get[*int](p, "k", 1)
	refuse("*int", err, "a ptr")
	_, err = Get[any](p, "k", 1)
	refuse("any", err, "a interface")
	_, err = Get[deep](p, "k", 1)
	refuse("struct", err, "field B")
	_, err = Get[func()](p, "k", 1)
	refuse("func", err, "a func")
	_, err = Get[struct{}](p, "k", 1)
	refuse("struct{}", err, "no bytes")
	_, err = Get[unsafe.Pointer](p, "k", 1)
	refuse("unsafe.Pointer", err, "unsafe.Pointer")
	_, err = Acquire[map[int]int](t.Context(), p, "k", 1)
	refuse("map", err, "a map")
	if len(p.Stats()) != 0 {
		t.Error(p.Stats())
	}
	_, err = Get[[0]string](p, "k", 1)
	refuse("[0]string", err, "no bytes")
}

func TestMisalignedMemoryIsRefused(t *testing.T) {
	e := elementOf[float64]()
	words := unsafe.Pointer(new([2]uint64))
	if err := e.checkAt(words); err != nil {
		t.Error(err)
	}
	wantError(t, e.checkAt(unsafe.Add(words, 2)), ErrElement)
}
