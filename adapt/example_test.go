package adapt_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/slab"
)

// With arrow-go: memory.NewCheckedAllocator(a), or array.NewInt64Builder(a).
func ExampleArrow() {
	p := slab.MustOpen("device=mmap")
	defer p.Close()
	a := adapt.Arrow(p)
	b := a.Allocate(100)
	copy(b, "columns")
	b = a.Reallocate(1<<20, b)
	fmt.Printf("%s, %d bytes, %d out\n", b[:7], len(b), p.Stats().ActiveBlocks)
	a.Free(b)
	fmt.Println(p.Stats().ActiveBlocks, "out")
	// Output:
	// columns, 1048576 bytes, 1 out
	// 0 out
}

// With grpc-go: grpc.NewServer(experimental.BufferPool(g)).
func ExampleGRPC() {
	p := slab.MustOpen("max_bytes=1MiB")
	defer p.Close()
	g := adapt.GRPC(p)
	message, large := g.Get(33<<10), g.Get(2<<20)
	fmt.Println(len(*message), len(*large), p.Stats().ActiveBlocks, "out,", g.Made(), "made")
	g.Put(message)
	g.Put(large)
	fmt.Println(p.Stats().ActiveBlocks, "out")
	// Output:
	// 33792 2097152 1 out, 1 made
	// 0 out
}

func ExampleHTTP() {
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "from behind")
	}))
	defer behind.Close()
	to, _ := url.Parse(behind.URL)

	p := slab.MustOpen("")
	defer p.Close()
	proxy := &httputil.ReverseProxy{
		Rewrite:    func(r *httputil.ProxyRequest) { r.SetURL(to) },
		BufferPool: adapt.HTTP(p, 32<<10),
	}
	w := httptest.NewRecorder()
	proxy.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	body, _ := io.ReadAll(w.Result().Body)
	fmt.Println(string(body), p.Stats().ActiveBlocks, "out")
	// Output:
	// from behind 0 out
}
