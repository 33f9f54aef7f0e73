package slab

import (
	"testing"
	"unsafe"
)

// lines returns the first and the last cache line of n bytes at p.
func lines(p unsafe.Pointer, n uintptr) (first, last uintptr) {
	return uintptr(p) / lineBytes, (uintptr(p) + n - 1) / lineBytes
}

var kept []any

// Slots of a rack are on lines of their own, and the rack on another; a slot
// that is alone shares its line with its rack.
func TestSlotsAndRacksOnTheirLines(t *testing.T) {
	if sanitized {
		t.Skip("the sanitizer moves objects off their lines")
	}
	defer func() { kept = nil }()
	small := &home{pool: &core{}}
	large := &home{pool: small.pool, racks: make([][]seat, manyRacks)}
	if n := unsafe.Sizeof(rack511{}); n != 32<<10 {
		t.Errorf("a large rack has %d bytes", n)
	}
	for range 20 {
		for n, h := range map[int]*home{8: small, 64: small, 511: large} {
			seats := newRack(h, n)
			if len(seats) != n {
				t.Fatalf("%d seats, not %d", len(seats), n)
			}
			kept = append(kept, seats) // or they would be on the stack
			rackLine, _ := lines(unsafe.Pointer(seats[0].rack()), 1)
			_, before := lines(unsafe.Pointer(seats[0].rack()), unsafe.Sizeof(rack{}))
			if before != rackLine {
				t.Fatalf("a rack of %d is on two lines: %x", n, uintptr(unsafe.Pointer(seats[0].rack())))
			}
			for i := range seats {
				s := &seats[i].slot
				first, last := lines(unsafe.Pointer(s), unsafe.Sizeof(*s))
				if first != last || first <= before || s.home() != h || s.rack().pool != h.pool {
					t.Fatalf("slot %d of %d: lines %d to %d, before it %d", i, len(seats), first-rackLine, last-rackLine, before-rackLine)
				}
				before = first
			}
		}
		s := newSlot(small)
		kept = append(kept, s)
		first, _ := lines(unsafe.Pointer(s.rack()), 1)
		if _, last := lines(unsafe.Pointer(s), unsafe.Sizeof(*s)); first != last || s.home() != small {
			t.Fatal("a slot alone is on two lines")
		}
	}
}

func TestMagazinesAreOnLinesOfTheirOwn(t *testing.T) {
	if n := unsafe.Sizeof(magazine{}); n != lineBytes {
		t.Errorf("a magazine has %d bytes", n)
	}
	for _, c := range []Config{{}, {Strategy: "slab"}} {
		mags := openPool(t, "heap", c).c.cache.mags
		if first, last := lines(unsafe.Pointer(&mags[0]), unsafe.Sizeof(mags[0])); first != last {
			t.Errorf("%+v: a magazine is on two lines", c)
		}
	}
}
