// Package seeded has programs like those of examples/, each line of which that says want or
// missed misuses a buffer. Nothing else in it does.
package seeded

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"sync"

	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

const mostBytes = 4 << 20

var pooled = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// A server notes the checksums of uploads.
type server struct {
	pool *slab.Pool
	mu   sync.Mutex
	sums map[int]uint32
	last []byte
	work chan []byte
}

func (s *server) note(body []byte) {
	sum := crc32.ChecksumIEEE(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sums[len(s.sums)] = sum
}

// intoPooled has a bytes.Buffer of those that the collector has left.
func (s *server) intoPooled(r *http.Request) ([]byte, error) {
	b := pooled.Get().(*bytes.Buffer)
	defer func() {
		b.Reset()
		pooled.Put(b)
	}()
	if _, err := b.ReadFrom(r.Body); err != nil {
		return nil, err
	}
	s.note(b.Bytes())
	return b.Bytes(), nil // want `slice of the pooled object is returned`
}

// intoBuffer needs no Content-Length.
func (s *server) intoBuffer(r *http.Request) error {
	b := iobuf.New(s.pool) // want `Buffer of New is never released`
	if _, err := b.ReadFrom(r.Body); err != nil {
		return err
	}
	s.note(b.Bytes())
	return nil
}

// intoKnown takes what the client announces, here with a bound.
func (s *server) intoKnown(r *http.Request) error {
	if r.ContentLength < 0 || r.ContentLength > mostBytes {
		return errors.New("Content-Length is missing or too large")
	}
	b, err := s.pool.GetContext(r.Context(), int(r.ContentLength))
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(r.Body, b.Bytes()); err != nil {
		return err // missed: other paths release b
	}
	s.note(b.Bytes())
	return b.Release()
}

// keepLast keeps the last upload for the page that shows it.
func (s *server) keepLast(r *http.Request) error {
	b, err := s.pool.Get(mostBytes)
	if err != nil {
		return err
	}
	defer b.Release()
	n, err := io.ReadFull(r.Body, b.Bytes())
	if err != nil {
		return err
	}
	s.last = b.Bytes()[:n] // want `slice of the buffer is stored in a field, and outlives the Release`
	return nil
}

// hand gives the upload to a worker.
func (s *server) hand(r *http.Request) error {
	b, err := s.pool.Get(mostBytes)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(r.Body, b.Bytes()); err != nil {
		b.Release()
		return err
	}
	s.work <- b.Bytes() // want `slice of the buffer is sent, and outlives the Release`
	return b.Release()
}

// later sums the upload while the client has its answer.
func (s *server) later(r *http.Request) error {
	b, err := s.pool.Get(mostBytes)
	if err != nil {
		return err
	}
	defer b.Release()
	if _, err := io.ReadFull(r.Body, b.Bytes()); err != nil {
		return err
	}
	go s.note(b.Bytes()) // want `slice of the buffer is used by a goroutine, and outlives the Release`
	return nil
}

// ServeHTTP answers with the first bytes.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := s.pool.Get(mostBytes)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
	_, err = io.ReadFull(r.Body, b.Bytes()) // missed: the error of Get is looked at, and the function goes on
	head := b.Bytes()[:16]
	b.Release()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%x", head) // want `slice of the buffer is used after its Release`
}
