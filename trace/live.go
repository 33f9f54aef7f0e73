package trace

import "fmt"

// A table has the live allocations of a trace. Each has a slot, a small number that no
// other live one has: the one that became free last. What is free again is forgotten, so
// that a table is as large as the program's memory was and not as long as the trace.
type table struct {
	slots map[uint64]uint32 // by id
	sizes []int             // by slot
	free  []uint32          // slots

	// While ids count up by one from first to next every id between them has been had.
	first, next uint64
	jumps       bool // they do not
}

// alloc gives an allocation its slot.
func (t *table) alloc(id uint64, size int) (slot uint32, err error) {
	if _, is := t.slots[id]; is {
		return 0, fmt.Errorf("id %d allocated again: %w", id, ErrReusedID)
	}
	if len(t.sizes) == 0 {
		t.first, t.next = id, id
	}
	t.jumps = t.jumps || id != t.next
	t.next++
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
		t.sizes[slot] = size
	} else {
		slot = uint32(len(t.sizes))
		t.sizes = append(t.sizes, size)
	}
	t.slots[id] = slot
	return slot, nil
}

// release ends an allocation. Its size is as given, or noSize.
func (t *table) release(id uint64, given int) (slot uint32, size int, err error) {
	slot, is := t.slots[id]
	switch {
	case is:
		size = t.sizes[slot]
	case !t.jumps && len(t.sizes) > 0 && id-t.first < t.next-t.first:
		return 0, 0, fmt.Errorf("id %d: %w", id, ErrDoubleFree)
	default:
		return 0, 0, fmt.Errorf("id %d freed: %w", id, ErrUnknownID)
	}
	if given != size && given != noSize {
		return 0, 0, fmt.Errorf("id %d allocated with %d bytes, freed with %d: %w", id, size, given, ErrSize)
	}
	delete(t.slots, id)
	t.free = append(t.free, slot)
	return slot, size, nil
}

// grow gives an allocation another size.
func (t *table) grow(id uint64, size int) (slot uint32, err error) {
	slot, is := t.slots[id]
	if !is {
		return 0, fmt.Errorf("id %d grown: %w", id, ErrUnknownID)
	}
	t.sizes[slot] = size
	return slot, nil
}
