package alloclog

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// umpire parses replays of Umpire, of which there are two generations: the first has the
// fields kind, event, payload and result, the second category, name, numeric_args,
// string_args and tags. Its pool is the allocator, by name if the log tells it. Pointers are
// compared within a process, whatever the allocator: Umpire finds that by the pointer, too.
type umpire struct {
	names     map[allocator]string
	resizing  map[allocator]Event // reallocations of the second generation that have begun
	time      sinceFirst
	attempted int // allocations of the first generation without a result so far
}

// An allocator is what a process calls one: its address.
type allocator struct {
	process   uint64
	reference string
}

// What a log may make the parser remember.
const (
	maxAllocators = 1 << 14
	maxReference  = 64  // bytes
	maxName       = 200 // bytes, as of a key
)

func newUmpire() *umpire {
	return &umpire{names: make(map[allocator]string), resizing: make(map[allocator]Event)}
}

// An umpireLine has what tells the generations apart.
type umpireLine struct {
	Timestamp int64 `json:"timestamp"`

	Kind    string          `json:"kind"`
	UID     uint64          `json:"uid"` // the process
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
	Result  json.RawMessage `json:"result"`

	Category string          `json:"category"`
	Name     string          `json:"name"`
	Numbers  json.RawMessage `json:"numeric_args"`
	Strings  json.RawMessage `json:"string_args"`
	Tags     json.RawMessage `json:"tags"`
}

func (u *umpire) event(line []byte, _ int) (e Event, ok bool, err error) {
	var l umpireLine
	if !object(line, &l) {
		return e, comment(line), nil
	}
	switch {
	case l.Kind == "replay" && l.Event != "":
		e, err = u.first(&l)
	case slices.Contains([]string{"operation", "statistic", "metadata"}, l.Category) && l.Name != "":
		e, err = u.second(&l)
	default:
		return e, false, nil
	}
	e.TimeNS = u.time.ns(l.Timestamp)
	return e, true, err
}

// end turns what was attempted and never done into failures.
func (u *umpire) end() Event {
	if u.attempted <= 0 {
		return Event{}
	}
	u.attempted--
	return Event{Kind: Failed}
}

// pool returns the name of an allocator, or its reference.
func (u *umpire) pool(p *fieldParser, a allocator) string {
	if len(a.reference) > maxReference {
		p.fail("an allocator_ref of %d bytes, want at most %d", len(a.reference), maxReference)
		return ""
	}
	if name, known := u.names[a]; known {
		return name
	}
	return printable(a.reference)
}

// learn keeps the name of an allocator. A call that has no result yet has no reference.
func (u *umpire) learn(p *fieldParser, a allocator, name string) error {
	switch {
	case len(a.reference) > maxReference || len(name) > maxName:
		p.fail("an allocator's name of %d bytes, want at most %d", len(name), maxName)
	case len(u.names) >= maxAllocators:
		p.fail("more than %d allocators", maxAllocators)
	case a.reference != "":
		u.names[a] = printable(name)
	}
	return p.err
}

// printable replaces what would not survive in a field of CSV.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, name)
}

// decode decodes a part of a line; one that is missing leaves into as it is.
func (p *fieldParser) decode(part json.RawMessage, into any) {
	if len(part) == 0 {
		return
	}
	if err := json.Unmarshal(part, into); err != nil {
		p.fail("%w", err)
	}
}
