package slab

import "time"

// Config chooses and tunes the stack behind a [Pool]. Its zero value works:
// a sizeclass pool on the Go heap.
type Config struct {
	Device   string // see device.Open; "" is heap
	Strategy string // direct, exact, bitlog, sizeclass, bestfit or slab; "" is sizeclass on heap, slab elsewhere

	Bits       int     // bitlog: leading bits kept; 0 is 4
	Steps      int     // sizeclass: classes a doubling, a power of two; 0 is 4
	Align      int     // alignment of blocks in bytes, a power of two; 0 is the strategy's default, or what the device needs
	MissTarget float64 // bestfit, slab: share of allocations that may go upstream; 0 is 0.01
	Decommit   bool    // bestfit, slab: give free pages back before a new peak

	MaxBytes      int64 // hard budget of managed bytes; 0 is none
	MaxHeld       int64 // bytes kept for reuse at most, up to a quarter of them in caches; 0 is no limit, -1 keeps nothing
	MaxHeldBlocks int   // blocks kept for reuse at most, and then none in caches; 0 is no limit (exact: 100), -1 keeps nothing
	MaxBlockBytes int64 // larger blocks are never kept; 0 is no limit (exact: 1 GiB)
	CacheBytes    int64 // per-processor caches, bytes a processor; 0 is the strategy's default, -1 turns them off

	TrimAfter time.Duration // held memory idle for so long goes back; 0 is never
	OnForget  string        // return, free or report; "" is return
	GCValve   int64         // run the collector after so much off-heap growth without release; 0 is 64 MiB, -1 is never

	Zero   bool   // blocks are cleared when handed out
	Strict bool   // misuse panics
	Check  bool   // canaries, poison and call sites; turns caches off
	Record string // trace file to write; gzip if it ends in .gz

	on nature // of the device, once it is known
}
