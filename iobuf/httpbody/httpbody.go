// Package httpbody gives an http.Request a body in pooled memory. It is a package of its own as
// iobuf needs no net/http.
//
//	body, err := b.Body() // of an iobuf.Buffer, or iobuf.NewBody of a PooledBuffer
//	if err != nil {
//		...
//	}
//	defer body.Close() // ours: until then a redirect or a retry can ask for the body again
//	if err := httpbody.Set(req, body); err != nil {
//		...
//	}
//	answer, err := client.Do(req)
//
// A transport may read the body after Do has returned: a server can answer before it has read the
// request. The memory goes back when the transport has closed its reader, too.
//
// A response needs no call: an iobuf.Body is an io.ReadCloser for http.Response.Body, and a handler
// passes a Body to io.Copy.
package httpbody

import (
	"errors"
	"io"
	"net/http"

	"github.com/bufslab/bufslab/iobuf"
)

// errBegun is the error of Set for a Body of which a redirect would send more than the first request.
var errBegun = errors.New("httpbody: the Body was read from already, or is closed")

// Set sets Body, GetBody and ContentLength of r to the bytes of b. The request gets readers of its
// own. b stays the caller's: keep it open until the client has returned, and close it then. A client
// closes the request's reader also where it fails; if r is never sent, close r.Body. Set takes no memory of
// the pool.
//
// For an empty b Set uses http.NoBody: net/http would send another empty body in chunks. Set does not
// close the earlier body of r. Call it again for the next try, and for many requests at a time. The
// error wraps iobuf.ErrClosed if the memory has gone back, and slab.ErrReleased if a copy of the handle of
// NewBody was released. It is another error if b was closed or read from: a redirect would not send the same
// bytes. After an error r is as before.
func Set(r *http.Request, b *iobuf.Body) error {
	body, err := b.Another()
	if err != nil {
		return err
	}
	n := body.(*iobuf.Body).Len()
	if _, closed := b.Read(nil); closed != nil || n != b.Len() { // the Len of a closed Body is 0, as of an empty one
		return errors.Join(errBegun, body.Close())
	}
	r.Body, r.GetBody, r.ContentLength = body, b.Another, int64(n)
	if n == 0 {
		r.Body, r.GetBody = http.NoBody, noBody
		return body.Close()
	}
	return nil
}

func noBody() (io.ReadCloser, error) { return http.NoBody, nil }
