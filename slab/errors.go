package slab

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

var (
	// ErrSize says that a size is negative or too large to be represented.
	ErrSize = device.ErrSize
	// ErrReleased says that a buffer was released before, by this handle or a copy of it.
	ErrReleased = errors.New("slab: PooledBuffer released already")
	// ErrForeign says that a slice is no buffer that the pool has out.
	ErrForeign = errors.New("slab: the slice begins no buffer of this pool that is out")
	// ErrParts says that a buffer has as many parts as it can have.
	ErrParts = errors.New("slab: PooledBuffer with too many parts")
	// ErrClosed says that the pool was closed.
	ErrClosed = errors.New("slab: pool closed")
	// ErrUpstream says that an upstream broke the contract of Allocator.
	ErrUpstream = upstream.ErrUpstream
)

// maxAsk is the most bytes that are asked of an upstream at a time.
const maxAsk = upstream.MaxSize

// outOfMemory reports whether err says that there was no room.
func outOfMemory(err error) bool { return upstream.OutOfMemory(err) }

// What a leakLog does about calls that are mistakes.

// releasedTwice counts, tells Hooks, and with Config.Strict panics.
func (l *leakLog) releasedTwice(b PooledBuffer) error {
	l.doubles.Add(1)
	l.hooks.doubleRelease(l.pool, b.n)
	if !l.strict {
		return ErrReleased
	}
	l.mu.Lock()
	s := l.sites[b.slot.ID()]
	l.mu.Unlock()
	first := s.released
	switch {
	case b.slot.IsPart():
		first = "a place that is not kept for parts"
	case !handle.SameOwner(s.gen, b.gen):
		first = "an earlier owner's Release"
	case first == "":
		first = "a place not known yet, as a part or a call of With has the memory"
	}
	panic(fmt.Sprintf("slab: PooledBuffer released twice: at %s, before that at %s", caller(), first))
}

// putForeign counts a Put of what is no buffer that is out, and with Config.Strict panics.
func (l *leakLog) putForeign(b []byte) error {
	l.foreign.Add(1)
	if l.strict {
		panic(fmt.Sprintf("slab: Put of %d bytes that begin no buffer of this pool that is out, at %s", cap(b), caller()))
	}
	return ErrForeign
}

// A LeakError says that a pool was closed while buffers were out.
type LeakError struct {
	Blocks, Bytes int64  // active, bytes as asked for
	Leaks         []Leak // as Pool.Leaks lists them
	Pool          string // its name: see Pool.Name
}

// A Leak is a buffer that was not released, or, by samples, all that were got at one place.
type Leak struct {
	Bytes     int
	Site      string // file:line of the Get
	Forgotten bool   // the collector has found it
	Sampled   int64  // about so many buffers, of about Bytes together; 0 for one buffer that is known
}

// Error adds the leaks up by site, and lists the ten sites with the most bytes.
func (e *LeakError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "slab: pool %s closed with %d buffers of %d bytes out", e.Pool, e.Blocks, e.Bytes)
	sites := bySite(e.Leaks)
	for _, at := range sites[:min(len(sites), leakLines)] {
		fmt.Fprintf(&s, "\n\t%s%d bytes in %d buffers got at %s", at.about, at.bytes, at.buffers, at.site)
		if at.forgotten > 0 {
			fmt.Fprintf(&s, ", %d of them found forgotten", at.forgotten)
		}
	}
	if n := len(sites) - leakLines; n > 0 {
		fmt.Fprintf(&s, "\n\tand %d more sites", n)
	}
	return s.String()
}

// leakLines is how many sites the text of a LeakError lists.
const leakLines = 10

// A leakSite is what was got at one place.
type leakSite struct {
	site, about               string
	bytes, buffers, forgotten int64
}

// bySite adds leaks up, the most bytes first.
func bySite(leaks []Leak) []leakSite {
	at := map[string]leakSite{}
	for _, l := range leaks {
		s := at[l.Site]
		n := max(1, l.Sampled)
		s.bytes += int64(l.Bytes)
		s.buffers += n
		if l.Forgotten {
			s.forgotten += n
		}
		if l.Sampled > 0 {
			s.about = "by samples, about "
		}
		at[l.Site] = s
	}
	var sites []leakSite
	for site, s := range at {
		s.site = site
		sites = append(sites, s)
	}
	slices.SortFunc(sites, func(a, b leakSite) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.site, b.site))
	})
	return sites
}

func (p *pool) leakError(s Stats) error {
	if s.ActiveBlocks == 0 {
		return nil
	}
	return &LeakError{Blocks: s.ActiveBlocks, Bytes: s.ActiveBytes, Leaks: p.listLeaks(), Pool: p.config.Name}
}
