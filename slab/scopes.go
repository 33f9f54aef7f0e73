package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/slab/internal/watch"
)

// Counts has the counts of a scope: see [Pool.Push]. Bytes are as asked for. In a pool Allocs are
// Gets, and Frees are Releases and buffers that were found forgotten.
type Counts struct {
	Allocs, Frees      int64
	Bytes, PeakBytes   int64 // net since the scope began, negative if it freed buffers of earlier Gets; and at most
	AllocatedBytes     int64 // of all Allocs
	Blocks, PeakBlocks int64 // the same for blocks
}

func (c Counts) String() string {
	return fmt.Sprintf("%d allocs, %d frees, %d bytes now, %d at most", c.Allocs, c.Frees, c.Bytes, c.PeakBytes)
}

// Push begins a scope within the current scope: [Pool.Pop] ends it. Scopes count all Gets and
// Releases of the pool, on any goroutine, also of size 0 and of Grow, and know the most active
// bytes. Push panics without Config.Statistics.
func (p *Pool) Push() { p.scopes().Push() }

// Pop ends the scope that was begun last, adds its counts to the scope around it and returns
// them. It panics if there is no scope, and without Config.Statistics.
func (p *Pool) Pop() Counts { return Counts(p.scopes().Pop()) }

// Counts returns the counts of the current scope, without a Push the counts since Open. It
// panics without Config.Statistics.
func (p *Pool) Counts() Counts { return Counts(p.scopes().Counts()) }

func (p *Pool) scopes() *watch.Scopes {
	s := p.opened().leaks.Scopes
	if s == nil {
		panic("slab: scopes of a pool without Config.Statistics")
	}
	return s
}
