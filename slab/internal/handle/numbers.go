package handle

import "weak"

// References are the owners of a table that can be found by a number. The number keeps nothing alive. P
// is the type of a part. Table.mu guards all fields.
//
// A number belongs to one owner and is never given again, so it never finds another buffer. A slot is kept
// by its address, as in the index, from its owner's first reference until the slot loses its block. Until
// then the slot has not been freed. A part has no such end: the collector may free it unseen. So a part is
// kept by a weak pointer.
type references[P any] struct {
	table uint64 // the table's own number; 0 before the first reference
	given uint64 // the last number
	of    map[uint64]reference[P]
	last  map[uintptr]uint64 // by address of a slot: its last number
	most  int                // the number of references before the next sweep
}

// A reference is an owner that has a number.
type reference[P any] struct {
	slot uintptr
	part weak.Pointer[P] // of a part, else nil
	gen  uint64
	n    int // bytes that the owner asked for
}

// leastReferences is the number of references before the first sweep.
const leastReferences = 64

// number returns the number of r, the same for each call with the same owner.
func (x *references[P]) number(r reference[P], live func(reference[P]) bool) uint64 {
	before := x.last[r.slot]
	if before != 0 && x.of[before] == r {
		return before
	}
	delete(x.of, before) // its generation has ended, or the part at this address was freed
	if len(x.of) >= max(x.most, leastReferences) {
		x.sweep(live)
	}
	if x.of == nil {
		x.of, x.last = map[uint64]reference[P]{}, map[uintptr]uint64{}
	}
	x.given++
	x.of[x.given], x.last[r.slot] = r, x.given
	return x.given
}

// drop forgets a slot that loses its block.
func (x *references[P]) drop(slot uintptr) {
	if number, ok := x.last[slot]; ok {
		delete(x.of, number)
		delete(x.last, slot)
	}
}

// sweep forgets references that are not live. The next sweep comes when there are twice as many as this
// one leaves, so that a reference is looked at about twice.
func (x *references[P]) sweep(live func(reference[P]) bool) {
	for number, r := range x.of {
		if !live(r) {
			delete(x.of, number)
			if x.last[r.slot] == number {
				delete(x.last, r.slot)
			}
		}
	}
	x.most = 2 * len(x.of)
}
