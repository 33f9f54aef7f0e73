package slab

import (
	"cmp"
	"log/slog"
	"math"
	"time"
)

// Config chooses and tunes the stack behind a [Pool]. Its zero value works:
// a sizeclass pool on the Go heap. Its fields are in groups: memory, strategy, held memory, forgotten and
// misused buffers, counts and recordings. Most programs set Device, MaxBytes and Name.
type Config struct {
	// What memory.
	Device   string // see device.Open; "" is heap
	MaxBytes int64  // hard budget of managed bytes; 0 is none
	// MaxShare is MaxBytes as a share of the device's memory, up to 1; 0 is none. In text it is max_bytes=75%. Open
	// reads the device's memory once; with Pressure it is read again when a limit changes. For host memory that is
	// the memory of the machine, or the limit of the control group if that is less; see ShareOf.
	MaxShare float64
	Name     string // of the pool, up to 200 bytes of printable characters; "" is the line: see Pool.Name
	Zero     bool   // blocks are cleared when handed out

	// Which strategy, and options of some strategies.
	Strategy string // one of Strategies; "" is sizeclass on heap, slab elsewhere
	Bits     int    // bitlog: bits kept below the leading one; 0 is 4, -1 keeps none
	Steps    int    // sizeclass: classes a doubling, a power of two; 0 is 4
	// alignment of blocks in bytes, a power of two up to 2 MiB, on heap, cuda, opencl and metal up to 4096; 0 is 64
	// above 256 bytes, less below except with bestfit, and never less than the device needs
	Align      int
	MissTarget float64 // bestfit, slab: share of allocations that may go upstream; 0 is 0.01
	Pages      string  // bestfit, slab on mmap: huge or small, the pages of ranges; "" leaves it to the system

	// bestfit, slab: memory to take when the pool is opened, a size or learned:FILE; "" is
	// none. It is held memory, goes back as all held memory does, and is not taken again. With a
	// size Open fails where there is no room. learned:FILE takes the peak in FILE and a hundredth
	// more, within max_bytes and max_held, and nothing where there is no room; Close writes the
	// new peak to FILE.
	Reserve string

	// "make": where there is no room, Get hands out plain Go memory, which Release leaves to the collector. So the
	// bound is soft, and Stats counts what is beyond it. GetContext waits, and Grow fails, as without it. "" is to fail
	Overflow string

	// What is kept for reuse.
	// bytes kept for reuse at most, up to a quarter of them in caches; 0 is no limit, -1 keeps nothing
	MaxHeld int64
	// MaxHeld as a share of the most bytes that were active in the last minute, up to 1; 0 is none. In text it is
	// max_held=25%
	HeldShare float64
	// exact, bitlog: blocks kept for reuse at most; 0 is no limit (exact: 100), -1 keeps nothing, with sizeclass too
	MaxHeldBlocks int
	MaxBlockBytes int64 // larger blocks are never kept; 0 is no limit (exact: 1 GiB)
	// per-processor caches, bytes a processor at most; 0 is the strategy's default, -1 turns them off
	CacheBytes int64
	// held memory that was unused for this time goes back; 0 is as long as Idle, 10 s where both are 0, -1 is never
	TrimAfter time.Duration
	// held memory goes back as the system runs short of memory, half of it at a time: see docs/containers.md
	Pressure bool
	// a pool without a Get or Release for this time gives back all held memory; 0 is as long as TrimAfter, -1 is never
	Idle time.Duration

	// What happens to buffers that are forgotten or misused. With Guard n, about one buffer in n is
	// withheld after its Release until nothing can reach its memory, and a use of it meanwhile is a
	// *GuardError; 0 is none. The pool runs the collector when the bytes of watched blocks off the
	// heap exceed twice those after the last collection plus GCTrigger: 0 is 64 MiB, -1 is off (0 in
	// text). Blocks of more than 4 KiB, and all blocks of device memory, are watched. See docs/leaks.md.
	OnForget  string // return, free or report; "" is return
	GCTrigger int64
	Strict    bool // a second Release panics; call sites are kept
	Check     bool // canaries, poison and call sites; turns caches off
	Guard     int

	// What is counted and recorded.
	// bytes of Gets between two samples of Pool.WriteProfile, on average; 512 KiB is a good value; 0 takes none
	ProfileRate int64
	Record      string // trace file to write; gzip if it ends in .gz
	// number of last events to remember, for Pool.WriteRecord and for the file at Close; 0 writes all as they come
	RecordLast  int
	RecordSites bool // record where each Get was called

	// Text has no keys for these: ParseConfig leaves them nil, String and MarshalJSON leave
	// them out, UnmarshalJSON leaves them as they are.
	Hooks *Hooks // functions to call when something happens; nil is none
	// Logger is for warnings and errors; nil is slog.Default, asked each time. It must not call Close of the pool,
	// which waits until it has been told what Guard and Check have found.
	Logger *slog.Logger

	traits traits // of the device, once it is open
}

// log returns the logger of a pool: Config.Logger or slog.Default, with the pool's name. A pool
// logs a warning when it is opened on a deferred device, and when it is closed with buffers active. It logs errors:
// faults that Config.Check finds where no caller could recover from a panic, and faults that Config.Guard finds.
func (c Config) log() *slog.Logger {
	return cmp.Or(c.Logger, slog.Default()).With("pool", c.Name)
}

// records reports whether c asks for a recording.
func (c Config) records() bool { return c.Record != "" || c.RecordLast > 0 }

// heldLimit turns Config.MaxHeld, where 0 is no limit and a negative value
// keeps nothing, into a bound in bytes.
func heldLimit(n int64) int64 {
	switch {
	case n == 0:
		return noLimit
	case n < 0:
		return 0
	}
	return n
}

const noLimit = math.MaxInt64
