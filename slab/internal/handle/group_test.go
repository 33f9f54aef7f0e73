package handle

import (
	"testing"
	"unsafe"
)

// lines returns the first and the last cache line of n bytes at p.
func lines(p unsafe.Pointer, n uintptr) (first, last uintptr) {
	return uintptr(p) / lineBytes, (uintptr(p) + n - 1) / lineBytes
}

var kept []any

// Slots of a group are on lines of their own, and the header on another; a slot that
// is alone shares its line with its header.
func TestSlotsOnLinesOfTheirOwn(t *testing.T) {
	if sanitized {
		t.Skip("the sanitizer moves objects off their lines")
	}
	defer func() { kept = nil }()
	r := &Region{table: new(shared)}
	for range 50 {
		g := newGroup(r)
		kept = append(kept, g) // or it would be on the stack
		_, before := lines(unsafe.Pointer(&g.header), unsafe.Sizeof(g.header))
		for i := range g.slots {
			s := &g.slots[i].Slot
			first, last := lines(unsafe.Pointer(s), unsafe.Sizeof(*s))
			if first != last || first <= before || s.header() != &g.header {
				t.Fatalf("slot %d: lines %d to %d, before it %d", i, first, last, before)
			}
			before = first
		}
		s := newSingle(r)
		kept = append(kept, s)
		first, _ := lines(unsafe.Pointer(s.header()), 1)
		if _, last := lines(unsafe.Pointer(s), unsafe.Sizeof(*s)); first != last || s.header().region != r {
			t.Fatal("a slot alone is on two lines")
		}
	}
}
