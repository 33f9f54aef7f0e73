package record

import (
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/bufslab/bufslab/internal/tracefile"
)

// A ring remembers the last events. What has left it is worked into the allocations that were
// live when it begins, so that its rows are a trace. The lock of the Recorder guards it.
type ring struct {
	events []event // in order from oldest on, around the end
	most   int
	oldest int
	live   map[uint64]event // allocations before the oldest event, by id

	promises []event
}

// Last returns a Recorder that remembers the last n events. Close writes them to a file,
// if path is not empty.
func Last(n int, path string, o Options) (*Recorder, error) {
	var out *tracefile.Writer // only WriteLast wants the rows
	if path != "" {
		var err error
		if out, err = tracefile.Create(path, gzip.BestSpeed); err != nil {
			return nil, err
		}
	}
	return open(out, o, &ring{most: n, live: map[uint64]event{}}), nil
}

// WriteLast writes what the ring has to w: first what was live when it begins.
func (r *Recorder) WriteLast(w io.Writer) error {
	if r.ring == nil {
		return errors.ErrUnsupported
	}
	r.mu.Lock()
	g := r.ring.clone() // the program need not wait for the rows
	r.mu.Unlock()
	c := r.options.columns()
	_, err := w.Write(g.rows(c, r.sites.list()))
	return err
}

func (g *ring) clone() *ring {
	h := *g
	h.events, h.live = slices.Clone(g.events), maps.Clone(g.live)
	h.promises = slices.Clone(g.promises)
	return &h
}

func (g *ring) add(e event) {
	if len(g.events) < g.most {
		g.events = append(g.events, e)
		return
	}
	g.leave(g.events[g.oldest])
	g.events[g.oldest] = e
	if g.oldest++; g.oldest == g.most {
		g.oldest = 0
	}
}

// leave works an event into what is live.
func (g *ring) leave(e event) {
	switch e.op() {
	case 'a':
		g.live[e.id()] = e
	case 'g': // a row of its own would need one of before
		was := g.live[e.id()]
		was.size = was.size&^(1<<sizeBits-1) | e.bytes()
		g.live[e.id()] = was
	case 'f':
		delete(g.live, e.id())
	}
}

// rows returns a trace. Ids count up, so those in live are in order of
// time. names are those of the sites.
func (g *ring) rows(c columns, names []string) []byte {
	w := writer{columns: c, rows: c.header()}
	add := func(e event) {
		key := ""
		if c.key && e.hasSite() {
			key = names[e.site()]
		}
		w.add(&e, key)
	}
	for _, e := range g.promises {
		add(e)
	}
	for _, id := range slices.Sorted(maps.Keys(g.live)) {
		add(g.live[id])
	}
	for i := range g.events {
		add(g.events[(g.oldest+i)%len(g.events)])
	}
	return w.rows
}
