package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// Clients compare checksums, and Close of a pool reports what is still out.
func TestUploadsArriveAsTheyWereSent(t *testing.T) {
	for _, v := range variants {
		c, err := v.measure(100, 3)
		if err != nil || len(c.latencies) != 3*clients {
			t.Errorf("%s: %d uploads: %v", v.name, len(c.latencies), err)
		}
	}
}

// An upload that is too large is refused and not noted. Neither it nor another stays out.
func TestNothingStaysOut(t *testing.T) {
	for _, v := range variants {
		var pool *slab.Pool
		if v.line != "" {
			pool = slab.MustOpen(v.line)
		}
		s := newServer(0, func(r *http.Request, use func([]byte)) error { return v.receive(pool, r, use) })
		for _, c := range []struct{ size, status, notes int }{
			{mostBytes, http.StatusOK, 1},
			{mostBytes + 1, http.StatusBadRequest, 1},
		} {
			answer := httptest.NewRecorder()
			s.ServeHTTP(answer, httptest.NewRequest("POST", "/", bytes.NewReader(make([]byte, c.size))))
			if answer.Code != c.status || len(s.notes) != c.notes {
				t.Errorf("%s: status %d, %d notes after %d bytes", v.name, answer.Code, len(s.notes), c.size)
			}
		}
		if pool == nil {
			continue
		}
		if err := pool.Close(); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
	}
}

func TestRun(t *testing.T) {
	if err := run(io.Discard, 100, 1); err != nil {
		t.Error(err)
	}
}
