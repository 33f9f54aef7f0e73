package compat

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/slab"
)

// answer is what the server behind the proxy sends: request number i's bytes.
func answer(i int) []byte { return bytes.Repeat([]byte(fmt.Sprintf("%04d", i)), 7_000+100*i) }

// proxy returns the address of a proxy whose buffers come from pool.
func proxy(t *testing.T, pool httputil.BufferPool) string {
	t.Helper()
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		fmt.Sscanf(r.URL.Path, "/%d", &i)
		w.Write(answer(i))
	}))
	t.Cleanup(behind.Close)
	to, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, BufferPool: pool}
	front := httptest.NewServer(p)
	t.Cleanup(front.Close)
	return front.URL
}

func fetch(url string, i int) error {
	r, err := http.Get(fmt.Sprintf("%s/%d", url, i))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, answer(i)) {
		return fmt.Errorf("request %d: %d bytes, %v", i, len(got), err)
	}
	return nil
}

// Clients beside each other get what the server sends, also where the pool has room for one
// buffer only.
func TestReverseProxy(t *testing.T) {
	for _, line := range append([]string{"device=heap,max_bytes=64KiB"}, lines...) {
		p := slab.MustOpen(line)
		h := adapt.HTTP(p, 32<<10)
		url, before := proxy(t, h), gets(p)
		var all sync.WaitGroup
		for client := range 8 {
			all.Go(func() {
				for i := range 50 {
					if err := fetch(url, (client*50+i)%97); err != nil {
						t.Errorf("%s: %v", line, err)
					}
				}
			})
		}
		all.Wait()
		eventually(t, "the last buffer comes back", func() bool { return p.Stats().ActiveBlocks == 0 })
		if n := gets(p) - before; n+h.Made() != 400 {
			t.Errorf("%s: %d got, %d made", line, n, h.Made())
		}
		even(t, p)
	}
}
