package adapt

import "github.com/bufslab/bufslab/slab"

// An HTTPPool is a BufferPool of net/http/httputil: see [HTTP].
type HTTPPool struct {
	slices
	size int
}

// HTTP returns an httputil.BufferPool, for ReverseProxy, of buffers of size bytes from p.
// ReverseProxy itself uses 32 KiB. HTTP panics if size is not positive.
//
// A server that runs out of pooled memory should answer more slowly, not fail: where p has no
// room, or is closed, Get makes a buffer as [GRPC]'s does, with the same counts, after the wait that [Wait]
// asks for.
func HTTP(p *slab.Pool, size int, options ...Option) *HTTPPool {
	if size <= 0 {
		panic("adapt: HTTP buffers need a positive size")
	}
	h := &HTTPPool{size: size}
	h.open(p, options)
	return h
}

// Get returns a buffer with undefined contents.
func (h *HTTPPool) Get() []byte { return h.get(h.size) }

// Put gives a buffer of Get back. It finds the buffer by the beginning of b, whatever its
// length. Do not use b afterwards.
func (h *HTTPPool) Put(b []byte) { h.put(b) }
