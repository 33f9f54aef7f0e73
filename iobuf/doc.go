// Package iobuf has what a program that reads and writes takes of a pool: a Buffer, which is a
// bytes.Buffer in pooled memory.
//
//	b := iobuf.New(pool)
//	defer b.Release()
//	if _, err := b.ReadFrom(r.Body); err != nil { // no room is an error, too
//		...
//	}
//	_, err = b.WriteTo(conn) // without a copy
//
// A [Buffer] grows by further segments and copies nothing. Bytes joins them, Segments shows them,
// Detach hands the contents over as a [slab.PooledBuffer]. It begins with the size that the Buffers
// of its pool typically end with.
//
// It is not for contents of a known size: [slab.Pool.Get] has room for these at once.
package iobuf
