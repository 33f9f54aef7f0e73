package percpu

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A cpu is the state of one processor that is not in its class caches. Only the pinned
// goroutine may change it; gets, arms and busy are read from outside, too.
type cpu struct {
	options *Options
	wants   *wants
	caches  []ClassCache // this processor's part of Cache.caches
	seen    []sight      // of each, at the last reclaim
	uses    []use        // of each, see letGo
	empty   *magazine    // in reserve, for the next class cache that overflows
	victim  int          // the class whose cache was shrunk last
	looked  int          // the class that letGo has looked at last
	refused uint32       // blocks that went to the strategy; see letGo
	busy    uint32       // not 0 while a goroutine is here; see quiesce

	granted int64 // bytes that caches may hold: the limit and the previous magazine of each

	gets atomic.Int64  // of class caches, until each was last armed
	arms atomic.Uint32 // counts them twice, so that it is odd meanwhile

	used  []uint16     // the classes that were ever armed, in that order; no other has served a call
	known atomic.Int32 // classes in used

	mu sync.Mutex // pinned code locks it under -race only, see Pin; usage.go and reclaim.go always do

	_ [64]byte // keeps the next cpu off the lines of this one
}

func (p *cpu) open(o *Options, w *wants, caches []ClassCache) {
	p.options, p.wants, p.caches = o, w, caches
	p.seen = make([]sight, len(caches))
	p.uses = make([]use, len(caches))
	p.used = make([]uint16, len(caches))
}

func (p *cpu) leave() {
	if p != nil {
		p.busy = 0
	}
}

// served adds up the Gets and Releases that the class caches of p have served. It looks again if a
// class cache was armed meanwhile. The caller has locked p.mu, which only the race detector's build
// needs.
func (p *cpu) served() (gets, releases int64) {
	for {
		arms := p.arms.Load()
		gets, releases = p.gets.Load(), 0
		for i := range p.caches {
			k := &p.caches[i]
			gets += k.state.gets()
			releases += int64(k.n()) + int64(k.nprevious) - k.moved // the other blocks came by magazines
		}
		if arms%2 == 0 && p.arms.Load() == arms {
			return gets, gets + releases
		}
		runtime.Gosched()
	}
}
