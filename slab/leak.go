package slab

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A leakLog counts misuse, and keeps call sites where Config.Check, Strict or
// OnForget=report asks for them.
type leakLog struct {
	doubles atomic.Int64
	strict  bool
	check   *Check // nil unless Config.Check

	mu          sync.Mutex // leaf
	forgotten   handle.Tally
	quarantined handle.Tally           // forgotten off the heap while a slice may be in use
	sites       map[handle.ID]callSite // nil where no one asks
	lost        []Leak
}

// A callSite says where a slot's last owner got its buffer and where it released it.
type callSite struct {
	got, released string
	gen           uint64
	bytes         int
}

func (l *leakLog) open(c Config) {
	l.strict = c.Strict
	if c.Check || c.Strict || c.OnForget == "report" {
		l.sites = map[handle.ID]callSite{}
	}
}

// caller returns file:line of the first caller outside this package and its parts.
func caller() string {
	var pc [16]uintptr
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc[:])])
	for {
		f, more := frames.Next()
		ours := strings.Contains(f.Function, "bufslab/slab.") || strings.Contains(f.Function, "bufslab/slab/internal/")
		if !ours || strings.HasSuffix(f.File, "_test.go") || !more {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
}

func (l *leakLog) recordGet(b PooledBuffer) {
	if l.sites == nil {
		return
	}
	at := caller()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sites[b.slot.ID()] = callSite{got: at, gen: b.gen, bytes: b.n}
}

func (l *leakLog) recordRelease(s *handle.Slot) {
	if l.sites == nil {
		return
	}
	at := caller()
	l.mu.Lock()
	defer l.mu.Unlock()
	site := l.sites[s.ID()]
	site.released = at
	l.sites[s.ID()] = site
}

const foundForgotten = "found forgotten"

// how says how a block came back whose streams are done.
func (l *leakLog) how(id handle.ID) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.sites[id].released; at != "" {
		return "released at " + at
	}
	return foundForgotten
}

// releasedTwice counts, and with Config.Strict panics.
func (l *leakLog) releasedTwice(b PooledBuffer) error {
	l.doubles.Add(1)
	if !l.strict {
		return ErrReleased
	}
	l.mu.Lock()
	s := l.sites[b.slot.ID()]
	l.mu.Unlock()
	first := s.released
	if s.gen != b.gen {
		first = "an earlier owner's Release"
	}
	panic(fmt.Sprintf("slab: PooledBuffer released twice: at %s, before that at %s", caller(), first))
}

// recordForgotten notes a buffer that was forgotten. Its generation has ended.
func (l *leakLog) recordForgotten(s *handle.Slot, escaped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgotten.Add(s.Asked())
	if escaped {
		l.quarantined.Add(s.Len())
	}
	if l.sites != nil {
		l.lost = append(l.lost, Leak{Bytes: s.Asked(), Site: l.sites[s.ID()].got, Forgotten: true})
		delete(l.sites, s.ID())
	}
}

// tookOver notes that a strategy counts a block of n bytes in quarantine from now on.
func (l *leakLog) tookOver(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quarantined.Sub(n)
}

// counts returns the forgotten blocks, and those in quarantine that the strategy counts
// as out.
func (l *leakLog) counts() (forgotten, quarantined handle.Tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.forgotten, l.quarantined
}

func (l *leakLog) forgottenBytes() int64 {
	forgotten, _ := l.counts()
	return forgotten.Bytes
}

// A LeakError says that a pool was closed while buffers were out.
type LeakError struct {
	Blocks, Bytes int64  // active, bytes as asked for
	Leaks         []Leak // with Config.Check, Strict or OnForget=report
}

// A Leak is a buffer that was not released.
type Leak struct {
	Bytes     int
	Site      string // file:line of the Get
	Forgotten bool   // the collector has found it
}

// Error adds the leaks up by site, and lists the ten sites with the most bytes.
func (e *LeakError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "slab: pool closed with %d buffers of %d bytes out", e.Blocks, e.Bytes)
	sites := bySite(e.Leaks)
	for _, at := range sites[:min(len(sites), leakLines)] {
		fmt.Fprintf(&s, "\n\t%d bytes in %d buffers got at %s", at.bytes, at.buffers, at.site)
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
	site                      string
	bytes, buffers, forgotten int64
}

// bySite adds leaks up, the most bytes first.
func bySite(leaks []Leak) []leakSite {
	at := map[string]leakSite{}
	for _, l := range leaks {
		s := at[l.Site]
		s.bytes += int64(l.Bytes)
		s.buffers++
		if l.Forgotten {
			s.forgotten++
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

func leakError(s Stats, l *leakLog) error {
	if s.ActiveBlocks == 0 {
		return nil
	}
	return &LeakError{Blocks: s.ActiveBlocks, Bytes: s.ActiveBytes, Leaks: l.list()}
}

// Leaks lists the buffers that are out, and after them those that were forgotten, with
// the place of their Get. It needs Config.Check, Strict or OnForget=report, else it is
// nil.
func (p *Pool) Leaks() []Leak { return p.opened().leaks.list() }

func (l *leakLog) list() []Leak {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Leak
	for _, at := range l.sites {
		if at.released == "" {
			out = append(out, Leak{Bytes: at.bytes, Site: at.got})
		}
	}
	slices.SortFunc(out, func(a, b Leak) int { return a.Bytes - b.Bytes })
	return append(out, l.lost...)
}
