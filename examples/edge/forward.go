package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/iobuf/httpbody"
	"github.com/bufslab/bufslab/slab"
)

const (
	uploadBytes = 4 << 20 // more than connections take ahead of their reader
	uploaders   = 8
)

// forwarders are the ways to send on what a request has.
var forwarders = []struct {
	name string
	send func(e *edge, r *http.Request) (*http.Response, error)
}{
	{"released when Do has returned", (*edge).sendBytes},
	{"iobuf.Body", (*edge).sendBody},
}

// An edge forwards uploads.
type edge struct {
	pool   *slab.Pool
	client *http.Client
	to     string // URL of the server behind it
	send   func(e *edge, r *http.Request) (*http.Response, error)
}

func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := e.send(e, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer answer.Body.Close()
	w.WriteHeader(answer.StatusCode)
	io.Copy(w, answer.Body)
}

// sendBytes is wrong: the transport may read the buffer after Do.
func (e *edge) sendBytes(r *http.Request) (*http.Response, error) {
	b, err := e.pool.Get(uploadBytes)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	n, err := io.ReadFull(r.Body, b.Bytes())
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest("POST", e.to, bytes.NewReader(b.Bytes()[:n]))
	if err != nil {
		return nil, err
	}
	return e.client.Do(req)
}

// sendBody keeps the memory until the transport has closed it, too.
func (e *edge) sendBody(r *http.Request) (*http.Response, error) {
	b := iobuf.New(e.pool)
	defer b.Release()
	if _, err := b.ReadFrom(r.Body); err != nil {
		return nil, err
	}
	body, err := b.Body()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	req, err := http.NewRequest("POST", e.to, nil)
	if err != nil {
		return nil, err
	}
	if err := httpbody.Set(req, body); err != nil {
		return nil, err
	}
	return e.client.Do(req)
}

// A hasty server answers 502 and then reads on. Each upload has one byte again and again: it counts
// those that have others.
type hasty struct{ mixed atomic.Int64 }

func (h *hasty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	_ = c.EnableFullDuplex()
	w.Header().Set("Content-Length", "6")
	w.WriteHeader(http.StatusBadGateway)
	io.WriteString(w, "sorry\n")
	_ = c.Flush()
	m, other, first := make([]byte, 16<<10), false, byte(0)
	for {
		n, err := r.Body.Read(m)
		if n > 0 && first == 0 {
			first = m[0]
		}
		other = other || bytes.Count(m[:n], []byte{first}) != n
		if err != nil {
			break
		}
	}
	if other {
		h.mixed.Add(1)
	}
}

// forward sends uploads through an edge, and returns how many were mixed. Close of the pool reports
// what is still out.
func forward(send func(e *edge, r *http.Request) (*http.Response, error), uploads int) (mixed int64, err error) {
	p := slab.MustOpen("")
	defer func() { err = errors.Join(err, p.Close()) }()
	h := &hasty{}
	behind := httptest.NewServer(h)
	e := &edge{p, behind.Client(), behind.URL, send}
	front := httptest.NewServer(e)
	front.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = uploaders
	var left atomic.Int64
	left.Store(int64(uploads))
	var all sync.WaitGroup
	errs := make([]error, uploaders)
	for i := range errs {
		all.Go(func() {
			for n := left.Add(-1); n >= 0 && errs[i] == nil; n = left.Add(-1) {
				errs[i] = upload(front, byte(1+n%250))
			}
		})
	}
	all.Wait()
	front.Close()
	behind.Client().CloseIdleConnections()
	behind.Close()               // when it has read all
	awaitIdle(p, 10*time.Second) // the transport closes a body when it has sent it
	return h.mixed.Load(), errors.Join(errs...)
}

func upload(front *httptest.Server, letter byte) error {
	answer, err := front.Client().Post(front.URL, "", bytes.NewReader(bytes.Repeat([]byte{letter}, uploadBytes)))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusBadGateway {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return errors.Join(err, answer.Body.Close())
}
