package watch

import (
	"fmt"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// Misuse returns how many second Releases there were, and how many Puts of what is not out.
func (l *Log) Misuse() (doubles, foreign int64) { return l.doubles.Load(), l.foreign.Load() }

// ReleasedTwice counts a second Release of a handle with the generation gen and n bytes, and calls
// DoubleRelease. If the Log is strict it panics.
func (l *Log) ReleasedTwice(s *handle.Slot, gen uint64, n int) {
	l.doubles.Add(1)
	if l.DoubleRelease != nil {
		l.DoubleRelease(n)
	}
	if !l.Strict {
		return
	}
	l.mu.Lock()
	site := l.sites[s.ID()]
	l.mu.Unlock()
	first := SiteOf(site.released)
	switch {
	case s.IsPart():
		first = "a place that is not kept for parts"
	case !handle.SameOwner(site.gen, gen):
		first = "an earlier owner's Release"
	case first == "":
		first = "a place not known yet, as a part or a call of With has the memory"
	}
	panic(fmt.Sprintf("slab: PooledBuffer released twice: at %s, before that at %s", Caller(), first))
}

// PutForeign counts a Put of what is no buffer that is out, but perhaps in a pool of the name owner. If
// the Log is strict it panics.
func (l *Log) PutForeign(b []byte, owner string) {
	l.foreign.Add(1)
	if !l.Strict {
		return
	}
	if owner != "" {
		owner = "; pool " + owner + " has it"
	}
	panic(fmt.Sprintf("slab: Put of %d bytes that begin no buffer of this pool that is out, at %s%s", cap(b), Caller(),
		owner))
}
