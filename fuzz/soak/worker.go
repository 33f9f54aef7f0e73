package soak

import (
	"math/rand/v2"
	"sync"

	"github.com/bufslab/bufslab/slab"
)

// let has the given number of workers use the pools in turns while there is more to do, and ends what they have
// handed over.
func (s *run) let(workers int, pools []*slab.Pool, seed uint64, more func(w *worker, i int) bool) {
	s.hand = make(chan owned, 64)
	var all sync.WaitGroup
	at := func(i int) *worker {
		return &worker{run: s, pool: pools[i%len(pools)], r: rand.New(rand.NewPCG(seed, uint64(i))),
			scratch: make([]byte, largest), id: uint64(i+1) << 48}
	}
	for i := range workers {
		all.Go(func() { at(i).whole(more) })
	}
	all.Wait()
	s.weather.end()
	close(s.hand)
	last := at(workers)
	last.openStream()
	for o := range s.hand {
		last.end(o)
	}
	last.closeStream()
}

// whole works while there is more to do, and gives back what it has.
func (w *worker) whole(more func(w *worker, i int) bool) {
	w.openStream()
	for i := 1; more(w, i); i++ {
		w.guarded(w.step)
		w.steps.Add(1)
		if i%often == 0 {
			w.changes.Add(1)
			w.weather.change(w)
		}
	}
	for _, o := range w.live {
		w.guarded(func() { w.end(o) })
	}
	w.live = nil
	w.closeStream()
	w.lookAtViews()
	clear(w.views[:])
	w.dropped = slab.PooledBuffer{}
}

func (w *worker) step() {
	switch k := w.r.IntN(100); {
	case k < 50 && len(w.live) < mostLive:
		w.take()
	case k < 90:
		if o, ok := w.pick(); ok {
			w.end(o)
		}
	case k < 96:
		w.handOver()
	default:
		select {
		case o := <-w.hand:
			w.end(o)
		default:
		}
	}
}

// take gets a buffer of any size in any way.
func (w *worker) take() {
	i := w.r.IntN(len(w.taken))
	w.id++
	h, err := ways[i].take(w, w.r.IntN(largest>>w.r.IntN(18)))
	switch {
	case w.noRoom(err):
		w.refused.Add(1)
	case err != nil:
		w.violation("%s: %v", ways[i].name, err)
	default:
		w.taken[i].Add(1)
		if h != nil {
			w.live = append(w.live, owned{h, ways[i].name})
		}
	}
}

func (w *worker) pick() (o owned, ok bool) {
	n := len(w.live)
	if n == 0 {
		return o, false
	}
	i := w.r.IntN(n)
	o, w.live[i] = w.live[i], w.live[n-1]
	w.live = w.live[:n-1]
	return o, true
}

func (w *worker) handOver() {
	o, ok := w.pick()
	if !ok {
		return
	}
	select {
	case w.hand <- o:
	default:
		w.end(o)
	}
}

// end looks at the contents, and gives the memory back.
func (w *worker) end(o owned) {
	if !o.marked(w) {
		w.violation("%s: somebody else has written to the buffer", o.way)
	}
	if err := o.end(w); err != nil {
		w.violation("end of %s: %v", o.way, err)
	}
}

// ways are all ways to have memory of a pool: those of package slab, then those of the packages
// over it. take returns what the worker has now: nil if it has that no more.
var ways = []struct {
	name string
	take func(w *worker, n int) (held, error)
}{
	{"Get", (*worker).get},
	{"GetContext", (*worker).getContext},
	{"GetAll", (*worker).getAll},
	{"Grow", (*worker).grow},
	{"Share", (*worker).share},
	{"Ref", (*worker).ref},
	{"forgotten", (*worker).forget},
	{"GetOn", (*worker).getOn}, // the last of anywhere
	{"GetZeroed", (*worker).getZeroed},
	{"GetBytes", (*worker).getBytes},
	{"GetBytesContext", (*worker).getBytesContext},
	{"Lookup", (*worker).lookup},
	{"Slice", (*worker).slice},
	{"Make", (*worker).typed},
	{"Buffer", (*worker).buffer},
	{"Body", (*worker).body},
	{"Arena", (*worker).arena},
	{"Lease", (*worker).lease},
	{"View", (*worker).view},
	{"unified", (*worker).array},
	{"Arrow", (*worker).arrowBytes},
	{"gRPC", (*worker).grpcBytes},
	{"HTTP", (*worker).httpBytes},
}

// anywhere is how many of the ways need no CPU that reaches the memory, and go on after a device has
// panicked.
const anywhere = 8
