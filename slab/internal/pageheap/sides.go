package pageheap

// To a processor its own last bytes are near: they are in its caches. If two processors cut from the same
// free extent, each gets bytes that the other has written last, and moving a block of a MiB from one
// cache to another takes longer than all else. So processors with odd numbers cut from the upper end: two
// work on memory of their own as long as there is more than both need, and neither takes more for it.

// sidedFrom is the least block that is worth a side: caches of processors keep smaller ones.
const sidedFrom = 32 << 10

// onSide returns the free extent from whose front to cut a block of n bytes, sidedFrom or more, for this
// processor: the free extent i, or its upper end, an extent of its own then.
func (m *memory) onSide(i int32, n int) int32 {
	if m.processor == nil || m.processor()%2 == 0 {
		return i
	}
	if rest := m.at(i).len - n; rest > 0 {
		return m.cut(i, rest)
	}
	return i
}
