package httpbody

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

// noneOut waits until a pool has nothing out: a transport closes a body when it likes.
func noneOut(t *testing.T, p *slab.Pool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); p.Stats().ActiveBlocks > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d buffers are out", p.Stats().ActiveBlocks)
		}
	}
	if n := p.Stats().DoubleReleases; n != 0 {
		t.Errorf("%d double releases", n)
	}
}

// message is longer than what connections take ahead of their reader.
var message = bytes.Repeat([]byte("0123456789"), 100_000)

func newBody(t *testing.T, p *slab.Pool, text []byte) *iobuf.Body {
	b := iobuf.New(p)
	for i := 0; i < len(text); i += 10_000 {
		check.Ok(b.Write(text[i:min(i+10_000, len(text))]))(t)
	}
	return check.Ok(b.Body())(t)
}

func newPost(t *testing.T, url string, b *iobuf.Body) *http.Request {
	r := check.Ok(http.NewRequestWithContext(t.Context(), "POST", url, nil))(t)
	check.Must(t, Set(r, b))
	return r
}

// serve runs a server of both versions of HTTP.
func serve(t *testing.T, h http.HandlerFunc, f func(t *testing.T, s *httptest.Server)) {
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(version, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Proto != version {
					t.Errorf("%s, not %s", r.Proto, version)
				}
				h(w, r)
			}))
			if s.EnableHTTP2 = version == "HTTP/2.0"; s.EnableHTTP2 {
				s.StartTLS()
			} else {
				s.Start()
			}
			defer s.Close()
			f(t, s)
		})
	}
}

// answer returns the text that a client gets.
func answer(t *testing.T, s *httptest.Server, r *http.Request) string {
	t.Helper()
	a := check.Ok(s.Client().Do(r))(t)
	defer a.Body.Close()
	return string(check.Ok(io.ReadAll(a.Body))(t))
}

// echo answers with "whole" where the message has come, of the length that was announced.
func echo(w http.ResponseWriter, r *http.Request) {
	got, err := io.ReadAll(r.Body)
	if err == nil && bytes.Equal(got, message) && r.ContentLength == int64(len(message)) {
		io.WriteString(w, "whole")
	}
}

// A request has the body, its length, and another body where it is sent again.
func TestSet(t *testing.T) {
	p := openPool(t, "")
	b := newBody(t, p, message)
	r := newPost(t, "http://localhost", b)
	b.Close()
	again := check.Ok(r.GetBody())(t)
	for _, body := range []io.ReadCloser{r.Body, again} {
		if got := check.Ok(io.ReadAll(body))(t); !bytes.Equal(got, message) || r.ContentLength != int64(len(message)) {
			t.Errorf("%d bytes, ContentLength %d", len(got), r.ContentLength)
		}
		check.Must(t, body.Close())
	}
	noneOut(t, p)
	check.Wraps(t, check.Err(r.GetBody()), iobuf.ErrClosed)
}

// What is read from already, closed, or gone is refused, and the request stays as it is.
func TestSetRefuses(t *testing.T) {
	p := openPool(t, "")
	begun := newBody(t, p, message)
	check.Ok(begun.Read(make([]byte, 1)))(t)
	closed := newBody(t, p, message)
	keeps := check.Ok(closed.Another())(t)
	closed.Close()
	empty := newBody(t, p, nil)
	keepsEmpty := check.Ok(empty.Another())(t)
	empty.Close()
	gone := newBody(t, p, message)
	gone.Close()
	h := check.Ok(openPool(t, "").Get(100))(t)
	stale := check.Ok(iobuf.NewBody(h))(t)
	check.Must(t, h.Release())
	for b, want := range map[*iobuf.Body]error{begun: errBegun, closed: errBegun, empty: errBegun, gone: iobuf.ErrClosed,
		stale: slab.ErrReleased} {
		r := check.Ok(http.NewRequest("POST", "http://localhost", nil))(t)
		if err := Set(r, b); !errors.Is(err, want) || r.Body != nil || r.GetBody != nil || r.ContentLength != 0 {
			t.Errorf("%v, not %v; %d bytes", err, want, r.ContentLength)
		}
	}
	check.Must(t, begun.Close(), keeps.Close(), keepsEmpty.Close(), stale.Close())
	noneOut(t, p)
}

// An empty body is announced as one.
func TestSetOfNothing(t *testing.T) {
	p := openPool(t, "")
	serve(t, func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) != 0 || r.ContentLength != 0 {
			t.Errorf("%v, %d", r.TransferEncoding, r.ContentLength)
		}
	}, func(t *testing.T, s *httptest.Server) {
		b := newBody(t, p, nil)
		defer b.Close()
		r := newPost(t, s.URL, b)
		if check.Ok(r.GetBody())(t) != http.NoBody {
			t.Error("GetBody has another one")
		}
		answer(t, s, r)
	})
	noneOut(t, p)
}

// A redirect that keeps the method sends the body again.
func TestRedirect(t *testing.T) {
	p := openPool(t, "")
	serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			io.Copy(io.Discard, r.Body)
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
			return
		}
		echo(w, r)
	}, func(t *testing.T, s *httptest.Server) {
		b := newBody(t, p, message)
		defer b.Close()
		if got := answer(t, s, newPost(t, s.URL, b)); got != "whole" {
			t.Error(got)
		}
	})
	noneOut(t, p)
}

// Without a reader that is kept open the memory is gone when the redirect comes, which is an error.
func TestRedirectOfAClosedBody(t *testing.T) {
	p := openPool(t, "")
	serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
	}, func(t *testing.T, s *httptest.Server) {
		b := newBody(t, p, message)
		r := newPost(t, s.URL, b)
		b.Close()
		a, err := s.Client().Do(r)
		check.Wraps(t, err, iobuf.ErrClosed)
		if a != nil {
			a.Body.Close()
		}
	})
	noneOut(t, p)
}

// A transport that finds its connection closed sends the body again, on another one.
func TestRetryOfTheTransport(t *testing.T) {
	p := openPool(t, "")
	var requests atomic.Int32 // on connections that each have a goroutine
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := check.Ok(io.ReadAll(r.Body))(t)
		if requests.Add(1) == 2 {
			panic(http.ErrAbortHandler) // which closes the connection
		}
		w.Write(text)
	}))
	defer s.Close()
	for range 2 {
		b := newBody(t, p, message[:1000]) // is sent whole before the connection is closed
		r := newPost(t, s.URL, b)
		r.Header.Set("Idempotency-Key", "1")
		if got := answer(t, s, r); got != string(message[:1000]) {
			t.Error(got)
		}
		b.Close()
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("%d requests", n)
	}
	noneOut(t, p)
}

// A program that tries again calls Set again.
func TestRetryOfTheProgram(t *testing.T) {
	p := openPool(t, "")
	var requests atomic.Int32
	serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1)%3 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		echo(w, r)
	}, func(t *testing.T, s *httptest.Server) {
		b := newBody(t, p, message)
		defer b.Close()
		for range 2 {
			if a, err := s.Client().Do(newPost(t, s.URL, b)); err == nil { // a server that does not read may also hang up
				a.Body.Close()
			}
		}
		if got := answer(t, s, newPost(t, s.URL, b)); got != "whole" {
			t.Error(got)
		}
	})
	noneOut(t, p)
}

// A request that is cancelled while its body is sent gives the memory back.
func TestCancel(t *testing.T) {
	p := openPool(t, "")
	begun, end := make(chan struct{}), make(chan struct{})
	serve(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-end
	}, func(t *testing.T, s *httptest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBody(t, p, message)
		var waits sync.WaitGroup
		waits.Go(func() {
			a, err := s.Client().Do(newPost(t, s.URL, b).WithContext(ctx))
			check.Wraps(t, err, context.Canceled)
			if a != nil {
				a.Body.Close()
			}
			b.Close()
		})
		<-begun
		cancel()
		waits.Wait()
		noneOut(t, p)
		end <- struct{}{}
	})
}

// A client that fails before it has sent anything gives the memory back, too.
func TestNobodyListens(t *testing.T) {
	p := openPool(t, "")
	s := httptest.NewServer(http.NotFoundHandler())
	url := s.URL
	s.Close()
	b := newBody(t, p, message)
	if a, err := http.DefaultClient.Do(newPost(t, url, b)); err == nil {
		t.Error(a.Body.Close(), a.Status)
	}
	b.Close()
	noneOut(t, p)
}

// A Body is the body of a response, of a handler and of a transport.
func TestResponse(t *testing.T) {
	p := openPool(t, "")
	serve(t, func(w http.ResponseWriter, r *http.Request) {
		b := newBody(t, p, message)
		defer b.Close()
		check.Ok(io.Copy(w, b))(t)
	}, func(t *testing.T, s *httptest.Server) {
		if got := answer(t, s, check.Ok(http.NewRequest("GET", s.URL, nil))(t)); got != string(message) {
			t.Errorf("%d other bytes", len(got))
		}
	})
	noneOut(t, p)
}
