//go:build bufslab_portable || race

package pin

import (
	"sync"
	"sync/atomic"
)

// Tokens stay with the processor that put them back, most of the time.
var (
	last   atomic.Int64
	tokens = sync.Pool{New: func() any {
		id := int(last.Add(1) - 1)
		return &id
	}}
)

// ID returns a small number that tends to be the same on the same processor.
func ID() int {
	t := tokens.Get().(*int)
	id := *t
	tokens.Put(t)
	return id
}
