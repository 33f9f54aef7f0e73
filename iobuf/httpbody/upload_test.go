package httpbody_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing/iotest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

// upload takes bodies of up to most bytes, and answers with their checksum.
func upload(pool *slab.Pool, most int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b := iobuf.New(pool)
		defer b.Release()
		_, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, most))
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
		case errors.Is(err, device.ErrOutOfMemory), errors.Is(err, slab.ErrClosed):
			w.Header().Set("Retry-After", "1") // other bodies have the budget, or the server ends
			http.Error(w, "no room at the moment", http.StatusServiceUnavailable)
		case err != nil: // the client went away, or what it sent is no body
			http.Error(w, "the body did not come", http.StatusBadRequest)
		default:
			sum := crc32.NewIEEE()
			n, _ := b.WriteTo(sum) // without a copy; Bytes would make one
			fmt.Fprintf(w, "%d bytes, checksum %08x\n", n, sum.Sum32())
		}
	}
}

// A server takes uploads within a budget. What is too large, what there is no room for and what does not come are
// three answers.
func Example_upload() {
	pool := slab.MustOpen("max_bytes=4MiB")
	defer pool.Close()
	handler := upload(pool, 2<<20)
	post := func(body io.Reader) {
		w := httptest.NewRecorder()
		handler(w, httptest.NewRequest("POST", "/", body))
		fmt.Print(w.Code, " ", w.Body)
	}
	post(strings.NewReader("hello"))
	post(bytes.NewReader(make([]byte, 3<<20)))
	post(io.MultiReader(strings.NewReader("hel"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	others, _ := pool.Get(3 << 20) // what other bodies have
	post(bytes.NewReader(make([]byte, 2<<20)))
	others.Release()
	post(bytes.NewReader(make([]byte, 2<<20)))
	fmt.Println(pool.Stats().ActiveBytes)
	// Output:
	// 200 5 bytes, checksum 3610a686
	// 413 the body is too large
	// 400 the body did not come
	// 503 no room at the moment
	// 200 2097152 bytes, checksum 8d89877e
	// 0
}

// frame prepends the header of a layer to a packet that begins at, and returns where the packet begins then.
func frame(packet []byte, at int, header string) int {
	return at - copy(packet[at-len(header):], header)
}

// A relay has layers that put headers in front of what came. It takes one buffer with head-room, reads behind the
// head-room, and sends from where the last header begins: nothing is copied.
func Example_headRoom() {
	const headRoom, most = 40, 1400
	pool := slab.MustOpen("")
	defer pool.Close()
	h, _ := pool.Get(headRoom + most)
	packet := h.Bytes()
	n, _ := strings.NewReader("body").Read(packet[headRoom:])
	at := headRoom
	for _, header := range []string{"tls:", "mux:", "ip:"} {
		at = frame(packet, at, header)
	}
	part, _ := h.Slice(at, headRoom+n) // an owner of its own, for a goroutine that sends
	h.Release()
	fmt.Printf("%s, %d buffer is out\n", part.Bytes(), pool.Stats().ActiveBlocks)
	part.Release()
	// Output: ip:mux:tls:body, 1 buffer is out
}
