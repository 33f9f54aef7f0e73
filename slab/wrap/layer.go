package wrap

import (
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A forward passes on the methods that an upstream may have beyond Alloc and Free.
type forward = upstream.Forward

// A layer passes the blocks of its upstream on as they are.
type layer struct {
	forward
	upstream slab.Allocator
}

func over(up slab.Allocator) layer { return layer{upstream.ForwardTo(up), up} }

// Unwrap returns the upstream.
func (l layer) Unwrap() slab.Allocator { return l.upstream }
