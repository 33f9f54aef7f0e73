package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

var pool = slab.MustOpen("max_bytes=64KiB") // of all bodies together; a server has more

func upload(w http.ResponseWriter, r *http.Request) {
	body := iobuf.New(pool) // takes nothing; its ReadFrom 512 bytes until more has come, whatever the peer announces
	defer body.Release()
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, 1<<20))
	var tooLarge *http.MaxBytesError
	var full *slab.OutOfMemoryError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, "at most 1 MiB", http.StatusRequestEntityTooLarge) // 413
	case errors.As(err, &full):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "other bodies have the memory", http.StatusServiceUnavailable) // 503
	case err != nil:
		http.Error(w, "the body did not come", http.StatusBadRequest) // 400
	default:
		n, _ := body.WriteTo(io.Discard) // without a copy
		fmt.Fprintln(w, n, "bytes")
	}
}

func main() {
	send := func(body io.Reader) {
		w := httptest.NewRecorder()
		upload(w, httptest.NewRequest("POST", "/", body))
		fmt.Print(w.Code, " ", w.Body)
	}
	send(strings.NewReader("a body"))
	send(io.MultiReader(strings.NewReader("half a "), broken{}))
	busy, _ := pool.Get(60 << 10)
	send(strings.NewReader(strings.Repeat("x", 32<<10)))
	busy.Release()
	pool.SetMaxBytes(8 << 20)
	send(strings.NewReader(strings.Repeat("x", 2<<20)))
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
