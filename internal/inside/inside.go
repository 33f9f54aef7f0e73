// Package inside has what packages of this module need of a slab.Pool, and no program does. Package slab sets it.
package inside

import "sync/atomic"

// Close is Close of a *slab.Pool without a line in the log, for callers that report leaks themselves.
var Close func(pool any) error

// Made returns size bytes of plain Go memory, which a *slab.Pool counts as overflow and takes back by Put, or nil
// if size is negative or the pool is closed.
var Made func(pool any, size int) []byte

// Place names where a stack of a slab.Leak begins, as file:line, and the two calls around it.
var Place func(stack []uintptr) string

// Left returns the buffers of a *slab.Pool that a keeper has left to the collector on purpose, and that the collector
// has not found dead. They are active, and no leaks.
var Left func(pool any) *Tally

// A Tally counts buffers and their bytes, as asked for.
type Tally struct{ Blocks, Bytes atomic.Int64 }

// Add counts a number of buffers, each with that many bytes. It takes them off if blocks is negative.
func (t *Tally) Add(blocks, bytes int64) {
	t.Blocks.Add(blocks)
	t.Bytes.Add(blocks * bytes)
}
