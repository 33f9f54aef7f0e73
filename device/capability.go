package device

// What only some devices and regions can do is asked for by a type assertion
// to one of these interfaces.

// A Reserver can set aside a range of addresses and put memory behind it
// piece by piece. Wrappers of a device implement it too, so the answer is in
// the error: it wraps ErrUnavailable where the device beneath cannot.
type Reserver interface {
	// Reserve sets aside up to size bytes of addresses; the range tells by
	// its Region's Size how many it got, always whole pages. No memory is
	// committed. Less than a page gives an error that wraps ErrSize.
	Reserve(size int) (Range, error)
}

// A Range is a region that is extended in place. Commit, Decommit and Close
// are for one goroutine at a time.
type Range interface {
	// Region returns the region of all reserved addresses; Size is their
	// number. Only committed bytes may be used.
	Region() Region
	// Page returns the granularity of Commit and Decommit in bytes, a power of two.
	Page() int
	// Commit puts memory behind n bytes from off, both multiples of Page.
	// What is committed already keeps its contents; those of the rest are
	// undefined. The error wraps ErrOutOfMemory when there is no room,
	// ErrSize when the bytes are not in the range or not whole pages.
	Commit(off, n int) error
	// Decommit gives the memory of n committed bytes from off back. Their
	// contents are lost, their addresses stay reserved. Errors are those of Commit.
	Decommit(off, n int) error
	// Close gives everything back, the addresses too. Later calls fail with ErrClosed.
	Close() error
}

// A Grained device makes regions in whole grains, so that a budget knows
// before the call what a region will take.
type Grained interface {
	// Grain returns the bytes that every region's size is a multiple of, a power of two.
	Grain() int
}

// An Aligned device can use a block by itself, as a kernel's argument for
// instance, only where it begins at a multiple of so many bytes of its region.
// A pool on it cuts blocks there.
type Aligned interface {
	// Align returns that number, a power of two; 1 where any place will do.
	Align() int
}

// A Deferred device may put memory behind a region only when it is first
// used. That there is none is then no error of Alloc, which nobody can answer
// by giving held memory back, but of whatever comes first.
type Deferred interface {
	// Deferred reports whether this device does so.
	Deferred() bool
}

// A Pinner is a Device with page-locked host memory, from which its streams
// copy without waiting.
type Pinner interface {
	// Pinned returns that memory as a Device of its own: its regions are
	// HostRegions. It is the same one at each call, named like its parent
	// with ":pinned" appended, and is closed with it. The error wraps
	// ErrUnavailable where there is none.
	Pinned() (Device, error)
}

// A Discarder is a Region that can give the memory behind some of its bytes
// back while the addresses stay valid: reading them gives zeros or old
// contents, and nobody else ever gets them.
type Discarder interface {
	// Discard gives n bytes from off back as far as whole pages allow.
	Discard(off, n int) error
}

// A Collected region is owned by the garbage collector: when nothing reaches
// its memory any more, neither a view nor the region itself, the memory would
// be collected. A pool uses that to notice forgotten buffers: it loosens
// the region while blocks are out, so that only their views keep it alive.
type Collected interface {
	HostRegion
	// Watch arranges for lost to be called, on a goroutine of the runtime,
	// each time the memory of the loosened region was found unreachable.
	// Until lost has called Hold, which takes the memory back with its
	// contents, nobody gets at it: Bytes is nil. If lost returns without, the
	// memory is collected. lost may reach the region, but its memory only
	// through it. Watch is called at most once.
	Watch(lost func())
	// Loosen makes the region keep its memory only as long as someone else does.
	Loosen()
	// Hold undoes Loosen. It reports false when the memory was found
	// unreachable already, and lost has yet to be called.
	Hold() bool
}

// A Priced device knows what a call costs beside the bytes that it moves, so
// that who has several ranges to copy knows when one call for all is cheaper.
type Priced interface {
	// CallBytes returns how many bytes more a copy could move in the time
	// that another call would take; 0 if calls take none.
	CallBytes() int
}
