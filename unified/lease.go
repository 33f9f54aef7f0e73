package unified

import (
	"reflect"
	"weak"

	"github.com/bufslab/bufslab/internal/refs"
)

// A lease is the right to use elements of an array, from New, Acquire or Ref.Get until Free or
// Release. Views share it. The array's lock guards it.
type lease struct {
	a      *array
	lo, hi int
	over   bool
	names  *names // of its Refs, nil while there are none
}

// buffers has the buffers and views that have a Ref.
var buffers = refs.New[named]()

// A named is a part of an array that has a Ref. The lease says whether it is still active.
type named struct {
	own   weak.Pointer[lease]
	part  part
	shape []int
	elem  reflect.Type
}

// A part is the elements from lo to below hi, in rank dimensions. A lease has at most one shape of each rank.
type part struct{ lo, hi, rank int }

// names are the names of the parts of one lease. They do not reach the lease.
type names struct{ of map[part]refs.Name }

// end ends all names. The lease is over.
func (n *names) end() {
	if n == nil {
		return
	}
	for _, x := range n.of {
		buffers.Remove(x)
	}
}
