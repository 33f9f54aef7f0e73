// Package iobuf is for programs that read and write pooled memory. It has a Buffer, which is a
// bytes.Buffer in pooled memory, a Body, which is a reader that owns its memory, and ReadReady,
// which takes memory when a connection has bytes.
//
//	b := iobuf.New(pool)
//	defer b.Release()
//	if _, err := b.ReadFrom(r.Body); err != nil { // no room is an error, too
//		...
//	}
//	_, err = b.WriteTo(conn) // without a copy
//
// A [Buffer] grows by further segments and copies nothing. Bytes joins the segments, which is a copy of all;
// WriteTo and Segments have them as they are; Detach hands the contents over as a [slab.PooledBuffer]. What a
// Buffer holds follows from the bytes that came: a peer that sends nothing takes 512 bytes, whatever it
// announces, and whatever others sent. docs/bodies.md has a handler for uploads, and says what a full budget does.
//
// A [Body] is for code that reads and closes at any time, such as a transport of HTTP. Its memory
// goes back once, with the last reader. Package iobuf/httpbody gives it to an http.Request.
//
// [ReadReady] waits for bytes without memory: for servers with many idle connections. [ReadConn] is
// for all other connections, such as TLS.
//
// A Buffer is not for contents of a known size: [slab.Pool.Get] has room for these at once.
package iobuf
