package pageheap

// To a processor its own last bytes are near: they are in its caches. To move a block of a MiB from the
// caches of another processor takes longer than all else. So a free extent knows the processor that had
// most of its bytes, and a processor takes one of its own. Where it has none, processors with odd numbers
// cut from the upper end: two work on memory of their own as long as there is more than both need, and
// neither takes more for it. At the end of an epoch all extents are anybody's, or what one goroutine needs
// on many processors would keep as many extents from going back.

// A side is the number of a processor plus 1. It is 0 where the processor is not known, or the bytes are new.
type side uint16

// sidedFrom is the least block that is worth a side: caches of processors keep smaller ones.
const sidedFrom = 32 << 10

// near is the number of free extents among which a processor looks for its own.
const near = 16

// side returns the side of the caller.
func (m *memory) side() side {
	if m.processor == nil {
		return 0
	}
	return side(m.processor() + 1)
}

// findNear returns the free extent from whose front to cut a block of n bytes, sidedFrom or more, for this
// processor, or none.
func (m *memory) findNear(n int) int32 {
	on := m.side()
	i := m.findOwn(n, on)
	if i == none {
		i = m.find(free, n)
	}
	if i == none || on%2 == 1 || on == 0 { // even processors have odd sides
		return i
	}
	if rest := m.at(i).len - n; rest > 0 {
		return m.cut(i, rest)
	}
	return i
}

// findOwn looks at the first few free extents from the list for n bytes on, and returns the first one that
// fits and is of no other side in this epoch, or none.
func (m *memory) findOwn(n int, on side) int32 {
	x := &m.index[free]
	left := near
	for l := x.lists.Next(m.listFor(n)); l >= 0 && left > 0; l = x.lists.Next(l + 1) {
		for i := x.heads[l]; i != none && left > 0; i = m.at(i).down {
			if t := m.at(i); t.len >= n && (t.side == on || t.side == 0 || t.stamp != m.epoch) {
				return i
			}
			left--
		}
	}
	return none
}
