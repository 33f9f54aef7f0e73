package pageheap

import (
	"iter"
	"math/bits"

	"github.com/bufslab/bufslab/slab/internal/bitset"
)

// An index finds an extent of at least a given length among the extents of one
// state: two-level segregated fit after Masmano et al. (TLSF, ECRTS 2004), with 32
// lists a doubling, last listed first.
type index struct {
	heads []int32
	lists bitset.Set // that have extents
	count int64
	bytes int64
}

// doublingLists is the logarithm of the lists a doubling.
const doublingLists = 5

// coarse returns the logarithm of the number of lengths, of about n units, that share a list.
// The mask saves the compiler a case.
func coarse(n uint) uint {
	return uint(bits.Len(n|1<<doublingLists)-1-doublingLists) & (bits.UintSize - 1)
}

// listOf returns the list for extents of n units: exact below 64, then 32 a doubling.
func listOf(n uint) int {
	e := coarse(n)
	return int(e<<doublingLists + n>>e)
}

// fitting returns the first list all of whose extents hold n units.
func fitting(n uint) int { return listOf(n + 1<<coarse(n) - 1) }

// units returns n bytes in units of align. The mask saves the compiler a case.
func (e *extents) units(n int) uint { return uint(n) >> (e.shift & (bits.UintSize - 1)) }

// listFor returns the list for extents of n bytes.
func (e *extents) listFor(n int) int { return listOf(e.units(n)) }

// makeLists makes lists for extents of up to n bytes, the length of a segment, so that list need not.
func (e *extents) makeLists(n int) {
	for s := range e.index {
		x := &e.index[s]
		if more := e.listFor(n) + 1 - len(x.heads); more > 0 {
			x.heads = append(x.heads, make([]int32, more)...)
			x.lists.Grow(len(x.heads) - 1)
		}
	}
}

// list enters extent i, which is in no list, into the index of its state.
func (e *extents) list(i int32, s state) {
	x := &e.index[s]
	t := e.at(i)
	l := e.listFor(t.len)
	head := &x.heads[l]
	t.state, t.up, t.down = s, none, *head
	if *head != none {
		e.at(*head).up = i
	} else {
		x.lists.Set(l)
	}
	*head = i
	x.count++
	x.bytes += int64(t.len)
}

// unlist takes the extent t out of its index.
func (e *extents) unlist(t *extent) {
	x := &e.index[t.state]
	up, down := t.up, t.down
	if down != none {
		e.at(down).up = up
	}
	if up != none {
		e.at(up).down = down
	} else {
		l := e.listFor(t.len)
		if x.heads[l] = down; down == none {
			x.lists.Clear(l)
		}
	}
	x.count--
	x.bytes -= int64(t.len)
}

// find returns an extent of the state of at least n bytes, or none. It tries the
// first few extents of the list that may have one, as they fit best; then the head
// of the first list that has one for certain; then it looks longer.
func (e *extents) find(s state, n int) int32 {
	own := e.listFor(n)
	if i := e.scan(s, own, n, 4); i != none {
		return i
	}
	x := &e.index[s]
	if l := x.lists.Next(fitting(e.units(n))); l >= 0 {
		return x.heads[l]
	}
	return e.scan(s, own, n, 32)
}

// scan looks for n bytes among the first extents of a list.
func (e *extents) scan(s state, list, n, most int) int32 {
	x := &e.index[s]
	if list >= len(x.heads) {
		return none
	}
	i := x.heads[list]
	for ; i != none && most > 0; most-- {
		if e.at(i).len >= n {
			return i
		}
		i = e.at(i).down
	}
	return none
}

// largest returns an extent of the last list that is not empty, or none.
func (e *extents) largest(s state) int32 {
	x := &e.index[s]
	l := x.lists.Last()
	if l < 0 {
		return none
	}
	return x.heads[l]
}

// each yields every extent of the state of at least n bytes, and some that are little shorter. The loop must not
// change the index.
func (e *extents) each(s state, n int) iter.Seq[int32] {
	return func(yield func(i int32) bool) {
		x := &e.index[s]
		for l := x.lists.Next(e.listFor(n)); l >= 0; l = x.lists.Next(l + 1) {
			for i := x.heads[l]; i != none; i = e.at(i).down {
				if !yield(i) {
					return
				}
			}
		}
	}
}
