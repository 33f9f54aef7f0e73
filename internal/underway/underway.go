// Package underway lets packages that keep memory of a pool between two owners say that an owner ended
// too early, as the pool's own Release does. It is internal as no program has a use for it.
package underway

// An Ended says who has given memory up: in the words of the report.
type Ended struct {
	What  string // such as "growpool: lease"
	By    string // what would have named the stream
	Named any    // a []device.Stream
}

// Watcher returns what reports the memory of a slab.PooledBuffer if a stream works on it that neither
// Named has nor what a stream of Named waits for. It is nil for a *slab.Pool that does not look: that is one
// without Config.Check, or on a device that is no device.Overseer. Package slab sets it.
var Watcher func(pool any) func(buffer any, e Ended)
