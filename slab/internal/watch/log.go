package watch

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/record"
)

// A Log hears of each Get and Release if SeesAll; otherwise of mistakes and forgotten buffers only, which
// it counts in any case. The zero Log does that.
type Log struct {
	Options
	teller teller

	doubles, foreign atomic.Int64

	bySlice sync.Once // is recorded

	mu          sync.Mutex // before that of a teller
	forgotten   handle.Tally
	quarantined handle.Tally // off the heap, while a slice may be in use that no handle guards
	parts       int64        // forgotten, that were not the only handle of a forgotten block
	sites       map[handle.ID]callSite
	leaked      []Leak
	warned      map[string]bool // places whose first buffer has gone into quarantine
}

// Options are what a Log is asked for.
type Options struct {
	Strict bool             // mistakes panic
	Sites  bool             // places of Gets and Releases are kept
	Record *record.Recorder // nil without a recording

	Leaked        func(Leak)      // called for what was forgotten, on another goroutine; may be nil
	DoubleRelease func(bytes int) // called by a second Release; may be nil
}

// A callSite says where a slot's last owner got its buffer and where it released it.
type callSite struct {
	got, released []uintptr
	gen           uint64
	bytes         int
	parts         map[handle.ID]Leak // that are out
}

// Open sets what the Log is asked for. It is called before anything else.
func (l *Log) Open(o Options) {
	l.Options, l.teller.leaked = o, o.Leaked
	if o.Sites {
		l.sites = map[handle.ID]callSite{}
	}
}

// SeesAll reports whether Got and Released have something to do.
func (l *Log) SeesAll() bool { return l.sites != nil || l.Record != nil }

// Got notes a Get of n bytes, whose slot has the generation gen.
func (l *Log) Got(s *handle.Slot, gen uint64, n int) {
	if l.Record != nil {
		s.SetMark(l.Record.Alloc(n))
	}
	l.got(s, gen, n)
}

// got is Got but for the recording.
func (l *Log) got(s *handle.Slot, gen uint64, n int) {
	if l.sites == nil {
		return
	}
	at := Here()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sites[s.ID()] = callSite{got: at, gen: gen, bytes: n}
}

// PutBySlice notes that the program gives back a slice of which it kept no handle.
func (l *Log) PutBySlice(promise, bit int) {
	if l.Record != nil {
		l.bySlice.Do(func() { l.Record.Promise(promise, bit) })
	}
}

// GotToGrow is Got of a buffer that a Grow copies to. The recording hears of it by Moved.
func (l *Log) GotToGrow(s *handle.Slot, gen uint64, n int) {
	s.SetMark(0)
	l.got(s, gen, n)
}

// Moved notes that from goes on as to, of n bytes, which GotToGrow knows. The caller has ended from, and
// pins it. If other handles of from have its memory, stays, to is an allocation of its own.
func (l *Log) Moved(from, to *handle.Slot, n int, stays bool) {
	switch {
	case l.Record == nil:
	case stays:
		to.SetMark(l.Record.Alloc(n))
	default:
		mark := l.Growing(from)
		to.SetMark(mark)
		l.Record.Grow(mark, n)
	}
}

// Growing takes a buffer out of the recording, whose owner has ended its generation to go on with another size.
// It returns what Grown wants to know.
func (l *Log) Growing(s *handle.Slot) (mark uint64) {
	if l.Record != nil {
		mark = s.Mark()
		s.SetMark(0)
	}
	return mark
}

// Grown notes that a buffer goes on in place with n bytes, as Got notes a Get.
func (l *Log) Grown(mark uint64, s *handle.Slot, gen uint64, n int) {
	if l.Record != nil {
		s.SetMark(mark)
		l.Record.Grow(mark, n)
	}
	l.got(s, gen, n)
}

// An End is what a recording is told of a Release by Freed.
type End struct {
	mark  uint64
	bytes int
}

// Freed records an end, once the memory can be had again.
func (l *Log) Freed(e End) {
	if l.Record != nil {
		l.Record.Free(e.mark, e.bytes)
	}
}

// Released notes that the owner of s has ended its generation. The recording is told by Freed.
func (l *Log) Released(s *handle.Slot) (e End) {
	e = endOf(s)
	if l.sites == nil {
		return e
	}
	at := Here()
	l.mu.Lock()
	defer l.mu.Unlock()
	site := l.sites[s.ID()]
	site.released = at
	l.sites[s.ID()] = site
	return e
}

// endOf is what Freed will be told of a buffer that was released or forgotten.
func endOf(s *handle.Slot) End { return End{s.Mark(), s.Asked()} }

// FoundForgotten is what How returns for a buffer that was not released.
const FoundForgotten = "found forgotten"

// How says how a block came back whose streams are done.
func (l *Log) How(id handle.ID) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.sites[id].released; at != nil {
		return "released at " + SiteOf(at)
	}
	return FoundForgotten
}

// Forgotten notes a buffer that was forgotten. Its generation has ended. If it escaped its block goes
// into quarantine.
func (l *Log) Forgotten(s *handle.Slot, escaped bool) {
	l.Freed(endOf(s))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgotten.Add(s.Asked())
	if escaped {
		l.quarantined.Add(s.Len())
	}
	leak := Leak{Bytes: s.Asked(), Stack: l.sites[s.ID()].got, Forgotten: true}
	leak.First = escaped && l.isFirst(PlaceOf(leak.Stack))
	l.teller.tell(leak)
	if l.sites != nil {
		l.leaked = append(l.leaked, leak)
		l.leakParts(l.sites[s.ID()].parts)
		delete(l.sites, s.ID())
	}
}

// isFirst reports whether no buffer of a place has gone into quarantine so far. The caller holds mu.
func (l *Log) isFirst(site string) bool {
	if l.warned == nil {
		l.warned = map[string]bool{}
	}
	was := l.warned[site]
	l.warned[site] = true
	return !was
}

// Isolated notes that a block of n bytes is in quarantine though it was released.
func (l *Log) Isolated(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quarantined.Add(n)
}

// TookOver notes that a strategy counts a block of n bytes in quarantine from now on.
func (l *Log) TookOver(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quarantined.Sub(n)
}

// Counts returns the forgotten blocks, those in quarantine that the strategy counts as out, and the
// parts that were forgotten by themselves.
func (l *Log) Counts() (forgotten, quarantined handle.Tally, parts int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.forgotten, l.quarantined, l.parts
}

// ForgottenBytes returns the bytes of all that was forgotten.
func (l *Log) ForgottenBytes() int64 {
	forgotten, _, _ := l.Counts()
	return forgotten.Bytes
}

// List lists what is out, by size, and after it what was forgotten. It is nil unless places are kept.
func (l *Log) List() (out []Leak) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.sites {
		if at.released == nil {
			out = append(out, Leak{Bytes: at.bytes, Stack: at.got})
		}
		out = slices.AppendSeq(out, maps.Values(at.parts))
	}
	SortLeaks(out)
	return append(out, l.leaked...)
}
