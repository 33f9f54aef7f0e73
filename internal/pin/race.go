//go:build race

package pin

import (
	"sync"
	"sync/atomic"
)

// Exclusive says that no two pinned goroutines have one number below Numbers.
const Exclusive = false

// ByRuntime says that the runtime does the pinning: it cannot stop a pinned goroutine, and
// so no collection ends while one is pinned.
const ByRuntime = false

// A Processor is a number that tends to stay with a processor.
type Processor int

// ID returns the number, which may be any.
func (p Processor) ID() int { return int(p) }

// Numbers returns how many numbers are worth telling apart.
func Numbers() int { return processors() }

// Tokens stay with the processor that put them back, most of the time.
var (
	last   atomic.Int64
	tokens = sync.Pool{New: func() any {
		p := Processor(last.Add(1) - 1)
		return &p
	}}
)

// Pin returns a small number.
func Pin() Processor {
	t := tokens.Get().(*Processor)
	defer tokens.Put(t)
	return *t
}

// Unpin undoes Pin.
func Unpin(Processor) {}
