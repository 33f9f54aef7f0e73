//go:build bufslab_portable || race

package pin

import (
	"sync"
	"sync/atomic"
)

// Exclusive says that a pinned goroutine is alone on its processor.
const Exclusive = false

// Tokens stay with the processor that put them back, most of the time.
var (
	last   atomic.Int64
	tokens = sync.Pool{New: func() any {
		id := int(last.Add(1) - 1)
		return &id
	}}
)

// Pin returns a small number that tends to be the same on the same processor.
func Pin() int {
	t := tokens.Get().(*int)
	id := *t
	tokens.Put(t)
	return id
}

// Unpin undoes Pin.
func Unpin() {}

// Fence has nothing to wait for, as no goroutine is ever alone.
func Fence() {}
