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
	empty   *magazine    // in reserve, for the next class cache that overflows
	victim  int          // the class whose cache was shrunk last
	busy    uint32       // not 0 while a goroutine is here; see quiesce

	granted int64 // bytes that caches may hold: the limit and the previous magazine of each

	gets  atomic.Int64  // of class caches, until each was last armed
	arms  atomic.Uint32 // counts them twice, so that it is odd meanwhile
	moves atomic.Uint32 // counts twice, in the same way, how often the owner has moved magazines

	used  []uint16     // the classes that were ever armed, in that order; no other has served a call
	known atomic.Int32 // classes in used

	mu sync.Mutex // pinned code locks it under -race only, see Pin; usage.go and reclaim.go always do

	_ [64]byte // keeps the next cpu off the lines of this one
}

func (p *cpu) open(o *Options, w *wants, caches []ClassCache) {
	p.options, p.wants, p.caches = o, w, caches
	p.seen = make([]sight, len(caches))
	p.used = make([]uint16, len(caches))
}

func (p *cpu) leave() {
	if p != nil {
		p.busy = 0
	}
}

// served adds up what the class caches of p have served. The caller looks at arms, and has locked p.mu, which
// keeps reclaims out, and in the race detector's build all calls.
func (p *cpu) served() (s Served) {
	s.Hits = p.gets.Load()
	s.Releases = s.Hits
	for _, class := range p.used[:p.known.Load()] {
		k := p.moment(class)
		s.add(k.served())
	}
	return s
}

// moment looks at a class cache, again if magazines were moved meanwhile. The caller has locked p.mu.
func (p *cpu) moment(class uint16) moment {
	for {
		moves := p.moves.Load()
		if k := p.caches[class].moment(); moves%2 == 0 && p.moves.Load() == moves {
			return k
		}
		runtime.Gosched()
	}
}

// moving begins a move of blocks that is no hit, and moved ends it. The caller is pinned, or takes blocks out of closed
// class caches.
func (p *cpu) moving() { begin(&p.moves) }
func (p *cpu) moved()  { p.moves.Add(1) }

// begin makes a count odd before the plain stores that follow are seen. Add alone does not on an arm64 without its
// atomic instructions: there a store may pass the one of Add. No store passes the Load, and that does not pass Add.
func begin(n *atomic.Uint32) {
	n.Add(1)
	n.Load()
}
