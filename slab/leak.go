package slab

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/record"
)

// A leakLog sees Gets and Releases where something was asked for that needs it: Config.Check,
// Strict and OnForget=report, for which it keeps call sites, Record, and Statistics. It counts
// misuse.
type leakLog struct {
	pool    string // its name
	hooks   *Hooks
	doubles atomic.Int64
	foreign atomic.Int64 // Puts of what the pool does not have out
	strict  bool
	check   *Check           // nil unless Config.Check
	record  *record.Recorder // nil unless Config.Record or RecordLast
	scopes  *scopes          // nil unless Config.Statistics

	mu          sync.Mutex // leaf
	forgotten   handle.Tally
	quarantined handle.Tally           // off the heap, while a slice may be in use that no handle guards
	sites       map[handle.ID]callSite // nil where no one asks
	leaked      []Leak
	untold      []Leak // that Hooks.Leaked is yet to be called for

	forgottenParts int64 // that were not the only handle of a forgotten block
}

// A callSite says where a slot's last owner got its buffer and where it released it.
type callSite struct {
	got, released string
	gen           uint64
	bytes         int
	parts         map[handle.ID]Leak // that are out
}

func (l *leakLog) open(c Config) (err error) {
	l.pool, l.hooks, l.strict = c.Name, c.Hooks, c.Strict
	if c.Check || c.Strict || c.OnForget == "report" {
		l.sites = map[handle.ID]callSite{}
	}
	if c.Statistics {
		s := newScopes()
		l.scopes = &s
	}
	if c.records() {
		l.record, err = openRecord(c)
	}
	return err
}

// seesAll reports whether recordGet and recordRelease have something to do.
func (l *leakLog) seesAll() bool { return l.sites != nil || l.record != nil || l.scopes != nil }

func (l *leakLog) recordGet(b PooledBuffer) {
	if l.record != nil {
		b.slot.SetMark(l.record.Alloc(b.n))
	}
	if l.scopes != nil {
		l.scopes.alloc(b.n)
	}
	if l.sites == nil {
		return
	}
	at := caller()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sites[b.slot.ID()] = callSite{got: at, gen: b.gen, bytes: b.n}
}

// recordRelease notes that the owner of s has ended its generation.
func (l *leakLog) recordRelease(s *handle.Slot) {
	l.recordEnd(s)
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

// recordEnd records and counts a Release, or that a buffer was forgotten.
func (l *leakLog) recordEnd(s *handle.Slot) {
	if l.record != nil {
		l.record.Free(s.Mark(), s.Asked())
	}
	if l.scopes != nil {
		l.scopes.free(s.Asked())
	}
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

// recordForgotten notes a buffer that was forgotten. Its generation has ended.
func (l *leakLog) recordForgotten(s *handle.Slot, escaped bool) {
	l.recordEnd(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgotten.Add(s.Asked())
	if escaped {
		l.quarantined.Add(s.Len())
	}
	leak := Leak{Bytes: s.Asked(), Site: l.sites[s.ID()].got, Forgotten: true}
	l.tellLeaked(leak)
	if l.sites != nil {
		l.leaked = append(l.leaked, leak)
		l.leakParts(l.sites[s.ID()].parts)
		delete(l.sites, s.ID())
	}
}

// tookOver notes that a strategy counts a block of n bytes in quarantine from now on.
func (l *leakLog) tookOver(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quarantined.Sub(n)
}

// counts returns the forgotten blocks, those in quarantine that the strategy counts as
// out, and the forgotten parts beside.
func (l *leakLog) counts() (forgotten, quarantined handle.Tally, parts int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.forgotten, l.quarantined, l.forgottenParts
}

func (l *leakLog) forgottenBytes() int64 {
	forgotten, _, _ := l.counts()
	return forgotten.Bytes
}

// Leaks lists the buffers that are out, and after them those that were forgotten, with
// the place of their Get. With Config.Check, Strict or OnForget=report it lists each. Else it
// estimates from the samples of [Pool.WriteProfile] what was got by each stack, which may miss
// a leak that is small beside Config.ProfileRate; where that is off, too, it is nil.
func (p *Pool) Leaks() []Leak { return p.opened().listLeaks() }

func (p *pool) listLeaks() []Leak {
	if p.leaks.sites == nil {
		return p.sampledLeaks()
	}
	return p.leaks.list()
}

func (l *leakLog) list() []Leak {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Leak
	for _, at := range l.sites {
		if at.released == "" {
			out = append(out, Leak{Bytes: at.bytes, Site: at.got})
		}
		out = slices.AppendSeq(out, maps.Values(at.parts))
	}
	sortLeaks(out)
	return append(out, l.leaked...)
}

func sortLeaks(list []Leak) {
	slices.SortFunc(list, func(a, b Leak) int { return cmp.Compare(a.Bytes, b.Bytes) })
}
