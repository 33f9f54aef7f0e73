package slab

// An index finds a chunk of at least so many bytes among those of one state:
// two-level segregated fit after Masmano et al. (TLSF, ECRTS 2004), with 32
// lists a doubling, last listed first.
type index struct {
	heads []int32
	lists bitset
	count int64
	bytes int64
}

// doublingLists is the logarithm of the lists a doubling.
const doublingLists = 5

// listOf returns the list for chunks of n units: exact below 64, then 32 a doubling.
func listOf(n uint) int {
	if n < 1<<doublingLists {
		return int(n)
	}
	e := bitLen(n) - 1 - doublingLists
	return e<<doublingLists + int(n>>e)
}

// fitting returns the first list all of whose chunks hold n units.
func fitting(n uint) int {
	if n < 1<<doublingLists {
		return int(n)
	}
	e := bitLen(n) - 1 - doublingLists
	return listOf(n + 1<<e - 1)
}

// list enters chunk i, which is in no list, into the index of its state.
func (h *heap) list(i int32, state uint8) {
	x := &h.index[state]
	c := h.at(i)
	l := listOf(uint(c.len / h.align))
	for len(x.heads) <= l {
		x.heads = append(x.heads, none)
	}
	c.state, c.up, c.down = state, none, x.heads[l]
	if c.down != none {
		h.at(c.down).up = i
	}
	x.heads[l] = i
	x.lists.set(l)
	x.count++
	x.bytes += int64(c.len)
}

// unlist takes chunk i out of its index.
func (h *heap) unlist(i int32) {
	c := h.at(i)
	x := &h.index[c.state]
	if c.down != none {
		h.at(c.down).up = c.up
	}
	if c.up != none {
		h.at(c.up).down = c.down
	} else {
		l := listOf(uint(c.len / h.align))
		if x.heads[l] = c.down; c.down == none {
			x.lists.clear(l)
		}
	}
	x.count--
	x.bytes -= int64(c.len)
}

// find returns a chunk of the state of at least n bytes, or none: one of the
// first few of the list that may have one, as that fits best; else the head
// of the first list that has one for certain; else it looks longer.
func (h *heap) find(state uint8, n int) int32 {
	u := uint(n / h.align)
	own := listOf(u)
	if i := h.scan(state, own, n, 4); i != none {
		return i
	}
	x := &h.index[state]
	if l := x.lists.next(fitting(u)); l >= 0 {
		return x.heads[l]
	}
	return h.scan(state, own, n, 32)
}

func (h *heap) scan(state uint8, list, n, most int) int32 {
	x := &h.index[state]
	if list >= len(x.heads) {
		return none
	}
	i := x.heads[list]
	for ; i != none && most > 0; most-- {
		if h.at(i).len >= n {
			return i
		}
		i = h.at(i).down
	}
	return none
}

// largest returns a chunk of the last list that has any, or none.
func (h *heap) largest(state uint8) int32 {
	x := &h.index[state]
	l := x.lists.last()
	if l < 0 {
		return none
	}
	return x.heads[l]
}

// each calls f with every chunk of the state, until it returns false. f
// must not change the index.
func (h *heap) each(state uint8, f func(i int32) bool) {
	x := &h.index[state]
	for l := x.lists.next(0); l >= 0; l = x.lists.next(l + 1) {
		for i := x.heads[l]; i != none; i = h.at(i).down {
			if !f(i) {
				return
			}
		}
	}
}
