package percpu

import (
	"fmt"

	"github.com/bufslab/bufslab/internal/invariants"
)

// check is mustAgree in check builds, and nothing in others.
func (p *cpu) check() {
	if invariants.Enabled {
		p.mustAgree()
	}
}

// mustAgree panics if the sums of a cpu do not agree. The caller is pinned.
func (p *cpu) mustAgree() {
	var granted int64
	for i := range p.caches {
		k := &p.caches[i]
		limit := k.limit.Load()
		if limit < 0 { // another goroutine may take magazines now; if it begins later, it waits for this one
			return
		}
		granted += int64(limit+k.nprevious) * p.options.blockBytes(i)
		if k.n() > limit || k.nprevious < 0 || k.nprevious > magazineSlots {
			panic(fmt.Sprintf("percpu: class %d holds %d and %d blocks within a limit of %d", i, k.n(), k.nprevious,
				limit))
		}
		k.loaded.check(i, k.n())
		k.previous.check(i, k.nprevious)
	}
	if granted != p.granted {
		panic(fmt.Sprintf("percpu: %d bytes granted, %d counted", granted, p.granted))
	}
}
