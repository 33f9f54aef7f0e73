// Package record writes down what a program asks of a pool, at so little cost that it can
// be left on.
//
//	recorder.go  events come in
//	rows.go      an event as a row of a trace
//	parts.go     rows go to a file
//	ring.go      the last events are remembered
//	sites.go     where the program called
//
// A call makes a row of its event, under a mutex. Another goroutine writes the rows: as soon
// as half of a part is full, and a second after the first row. So nothing is lost but the part
// that fills when the program is killed, and the one that is on its way. To make the rows
// there, of events, took longer: on two processors the events had to go from one to the other,
// and the program waited for the one that was behind.
package record

import (
	"compress/gzip"
	"io"
	"sync"
	"time"

	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/internal/tracefile"
)

// clockEvents is how many events share a reading of the clock, which takes longer than all
// else. A part begins with a reading, so none is more than a second off.
const clockEvents = 64

// An event is what a program asked for, in few bytes: a ring has many.
type event struct {
	what uint64 // (id<<onBits | processor)<<opBits | op of the row: 'a', 'f', 'g' for a grow or 'p' for a promise
	size uint64 // site, as sites numbers it,<<sizeBits | size
	ns   int64  // since the Recorder was opened
}

const (
	opBits   = 8
	onBits   = 12 // a processor beyond has the number of another one; ids count to 2^44
	sizeBits = 48 // no memory has more bytes, see newEvent; maxSites fits into the rest
)

func (e *event) op() byte   { return byte(e.what) }
func (e *event) id() uint64 { return e.what >> (onBits + opBits) }
func (e *event) on() uint64 { return e.what >> opBits & (1<<onBits - 1) }
func (e *event) site() int  { return int(e.size >> sizeBits) }

// hasSite reports whether the row has a place: that of an Alloc or a Grow.
func (e *event) hasSite() bool { return e.op() == 'a' || e.op() == 'g' }

// bytes returns the size.
func (e *event) bytes() uint64 { return e.size & (1<<sizeBits - 1) }

// newEvent returns an event. A block of more bytes than any memory has, which addresses alone may
// have, has as many as fit.
func newEvent(op byte, id uint64, size int) event {
	return event{what: id<<(onBits+opBits) | uint64(op), size: min(uint64(size), 1<<sizeBits-1)}
}

// at returns e with the number of a site.
func (e event) at(site uint64) event {
	e.size |= site << sizeBits
	return e
}

// Options say what is recorded.
type Options struct {
	Device     string // the name of the device that the pool draws on; "" is none
	Processors bool   // rows have the column thread: the processor that a call ran on
	Times      bool   // rows have the column time_ns
	// names the place of an Alloc or a Grow, for the column key; nil: there is none
	Site func(stack []uintptr) string
}

func (o Options) columns() columns {
	c := columns{key: o.Site != nil, on: o.Processors, time: o.Times}
	if len(o.Device) <= maxDevice {
		c.device = field(o.Device)
	}
	return c
}

// A Recorder records. It is safe for concurrent use.
type Recorder struct {
	options Options
	began   time.Time
	sites   sites
	ring    *ring // nil: every row is written

	mu     sync.Mutex // no other lock is taken under it, but that of sites
	parts  parts
	next   uint64 // id
	now    int64  // the last reading of the clock
	ticks  int    // events since
	closed bool
}

// To returns a Recorder that writes rows to w, from one goroutine at a time, until Close
// returns.
func To(w io.Writer, o Options) *Recorder { return open(tracefile.New(w), o, nil) }

// Create returns a Recorder that writes to a file, compressed if its name ends in .gz.
func Create(path string, o Options) (*Recorder, error) {
	w, err := tracefile.Create(path, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	return open(w, o, nil), nil
}

func open(w *tracefile.Writer, o Options, g *ring) *Recorder {
	r := &Recorder{options: o, began: time.Now(), ring: g}
	r.parts.open(&r.mu, w, o.columns())
	if g == nil {
		r.parts.begin()
	}
	return r
}

// Alloc records an allocation. It returns what Free wants to know.
func (r *Recorder) Alloc(size int) (mark uint64) {
	site := r.site()
	r.lock()
	id := r.next
	r.next++
	r.add(newEvent('a', id, size).at(site))
	r.mu.Unlock()
	return id + 1
}

// Grow records that an allocation goes on with size bytes, if mark is not 0.
func (r *Recorder) Grow(mark uint64, size int) {
	if mark == 0 {
		return
	}
	site := r.site()
	r.lock()
	r.add(newEvent('g', mark-1, size).at(site))
	r.mu.Unlock()
}

// site returns the number of the place that called the pool. Its caller is who has been called by
// package watch.
func (r *Recorder) site() uint64 {
	if r.options.Site == nil {
		return 0
	}
	return uint64(r.sites.caller(r.options.Site))
}

// Free records that an allocation of size bytes has ended, if mark is not 0.
func (r *Recorder) Free(mark uint64, size int) {
	if mark == 0 {
		return
	}
	r.lock()
	r.add(newEvent('f', mark-1, size))
	r.mu.Unlock()
}

// Promise records what the pool promises, as a row p: an alignment, and a sum of bits; see trace.Promise. A ring
// keeps it.
func (r *Recorder) Promise(align int, bits int) {
	r.lock()
	defer r.mu.Unlock()
	e := newEvent('p', uint64(align), bits)
	if r.ring != nil && !r.closed {
		r.ring.promises = append(r.ring.promises, e)
		return
	}
	r.add(e)
}

// lock locks r.mu when there is room for an event.
func (r *Recorder) lock() {
	r.mu.Lock()
	for r.parts.isFull() && !r.closed {
		r.parts.changed.Wait()
	}
}

// add adds an event, for which lock has found room.
func (r *Recorder) add(e event) {
	if r.closed {
		return
	}
	if r.options.Processors {
		e.what |= processor() << opBits
	}
	if r.options.Times {
		e.ns = r.clock()
	}
	if r.ring != nil {
		r.ring.add(e)
		return
	}
	r.parts.add(&e, r.nameOf(&e))
}

// processor returns the number of the processor that the goroutine runs on.
func processor() uint64 {
	on := pin.Pin()
	id := on.ID()
	pin.Unpin(on)
	return uint64(id) & (1<<onBits - 1)
}

func (r *Recorder) clock() int64 {
	if r.ticks--; r.ticks < 0 || r.ring == nil && len(r.parts.rows) == 0 {
		r.ticks = clockEvents - 1
		r.now = int64(time.Since(r.began))
	}
	return r.now
}

func (r *Recorder) nameOf(e *event) string {
	if r.options.Site == nil || !e.hasSite() {
		return ""
	}
	return r.sites.name(e.site())
}

// Close writes what there is, closes the file that Create has made, and returns the first
// error of all. What happens from then on is not recorded.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		if r.ring != nil && r.parts.out != nil {
			r.parts.rows = r.ring.rows(r.parts.columns, r.sites.list())
		}
		r.parts.close()
	}
	return r.parts.err
}
