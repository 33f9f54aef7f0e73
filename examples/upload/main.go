// Command upload takes uploads of 1 to 4 MiB by HTTP, each read into memory as a whole, and
// notes its checksum. It does so in memory that the collector takes away, in buffers of a
// sync.Pool, and in those of ours, on the Go heap and outside, while clients send as fast as they
// can:
//
//	go run .
package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

const (
	clients   = 8
	each      = 150     // uploads of a client
	mostBytes = 4 << 20 // of an upload
	known     = 300_000 // what the server has noted before: something for the collector to look at
)

func main() {
	if err := run(os.Stdout, known, each); err != nil {
		fmt.Fprintln(os.Stderr, "upload:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, known, each int) error {
	fmt.Fprintf(out, "%d clients, each with %d uploads of %d to %d MiB; %d uploads known before\n\n",
		clients, each, mostBytes>>22, mostBytes>>20, known)
	fmt.Fprintf(out, "%-14s%8s%10s%10s%9s%13s%12s%15s\n",
		"", "a second", "p50", "p99", "GC CPU", "collections", "peak heap", "peak resident")
	for _, v := range variants {
		c, err := v.measure(known, each)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		fmt.Fprintf(out, "%-14s%8.0f%10v%10v%7.1f %%%13d%8d MiB%11d MiB\n", v.name,
			float64(len(c.latencies))/c.time.Seconds(),
			c.quantile(0.5), c.quantile(0.99), 100*c.collectorShare, c.collections, c.peakHeap>>20, c.peakResident>>20)
	}
	return nil
}

// A variant is one way to receive uploads. Without a line it needs no pool.
type variant struct {
	name, line string
	receive    func(p *slab.Pool, r *http.Request, use func([]byte)) error
}

var variants = []variant{
	{"bytes.Buffer", "", intoBytesBuffer},
	{"make", "", intoMade},
	{"sync.Pool", "", intoPooled},
	{"Buffer, heap", "device=heap", intoBuffer},
	{"Buffer, mmap", "device=mmap", intoBuffer},
}

// intoBytesBuffer needs no Content-Length, nor does it believe one.
func intoBytesBuffer(_ *slab.Pool, r *http.Request, use func([]byte)) error {
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		return err
	}
	use(b.Bytes())
	return nil
}

// intoMade makes what the client announces, here with a bound.
func intoMade(_ *slab.Pool, r *http.Request, use func([]byte)) error {
	if r.ContentLength < 0 || r.ContentLength > mostBytes {
		return errors.New("Content-Length is missing or too large")
	}
	b := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, b); err != nil {
		return err
	}
	use(b)
	return nil
}

var pooled = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// intoPooled has a bytes.Buffer of those that the collector has left.
func intoPooled(_ *slab.Pool, r *http.Request, use func([]byte)) error {
	b := pooled.Get().(*bytes.Buffer)
	defer func() {
		b.Reset()
		pooled.Put(b)
	}()
	if _, err := b.ReadFrom(r.Body); err != nil {
		return err
	}
	use(b.Bytes())
	return nil
}

// intoBuffer needs no Content-Length either. Bytes copies what came into one buffer: a checksum alone could be
// written to by b.WriteTo, without a copy.
func intoBuffer(p *slab.Pool, r *http.Request, use func([]byte)) error {
	b := iobuf.New(p)
	defer b.Release()
	if _, err := b.ReadFrom(r.Body); err != nil {
		return err
	}
	use(b.Bytes())
	return nil
}

// measure serves with a pool of its own, if one is needed. Close reports what is still out.
func (v variant) measure(known, each int) (c cost, err error) {
	var pool *slab.Pool
	if v.line != "" {
		pool = slab.MustOpen(v.line)
		defer func() { err = errors.Join(err, pool.Close()) }()
	}
	s := newServer(known, func(r *http.Request, use func([]byte)) error { return v.receive(pool, r, use) })
	return s.load(each)
}

// A server notes what it has received.
type server struct {
	receive func(r *http.Request, use func([]byte)) error
	mu      sync.Mutex
	notes   map[int]*note
}

type note struct {
	size int
	sum  uint32
	when time.Time
}

func newServer(known int, receive func(*http.Request, func([]byte)) error) *server {
	s := &server{receive: receive, notes: map[int]*note{}}
	for range known {
		s.note(nil)
	}
	return s
}

func (s *server) note(body []byte) uint32 {
	n := &note{len(body), crc32.ChecksumIEEE(body), time.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes[len(s.notes)] = n
	return n.sum
}

// ServeHTTP answers with the checksum of the body.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var sum uint32
	r.Body = http.MaxBytesReader(w, r.Body, mostBytes)
	if err := s.receive(r, func(body []byte) { sum = s.note(body) }); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%08x", sum)
}
