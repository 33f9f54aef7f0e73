package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/slab/internal/watch"
)

// Counts is what happened in a scope: see [Pool.Push]. Bytes are as asked for. Of a pool Allocs are
// its Gets, and Frees its Releases and what was found forgotten.
type Counts struct {
	Allocs, Frees      int64
	Bytes, PeakBytes   int64 // net since the scope began, negative if it freed what others got; and at most
	AllocatedBytes     int64 // of all Allocs
	Blocks, PeakBlocks int64 // the same for blocks
}

func (c Counts) String() string {
	return fmt.Sprintf("%d allocs, %d frees, %d bytes now, %d at most", c.Allocs, c.Frees, c.Bytes, c.PeakBytes)
}

// Push begins a scope within the current one: [Pool.Pop] ends it. Scopes count all Gets and
// Releases of the pool, on any goroutine, size 0 and Grow, too, and know what was out at
// most. Push panics without Config.Statistics.
func (p *Pool) Push() { p.scopes().Push() }

// Pop ends the scope that was begun last, adds its counts to the one around it and returns
// them. It panics if there is none, and without Config.Statistics.
func (p *Pool) Pop() Counts { return Counts(p.scopes().Pop()) }

// Counts returns the counts of the current scope; without a Push they are those since Open.
// It panics without Config.Statistics.
func (p *Pool) Counts() Counts { return Counts(p.scopes().Counts()) }

func (p *Pool) scopes() *watch.Scopes {
	s := p.opened().leaks.Scopes
	if s == nil {
		panic("slab: scopes of a pool without Config.Statistics")
	}
	return s
}
