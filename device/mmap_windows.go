package device

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"unsafe"
)

// Windows has two states where others have one. Reserved addresses cost nothing, and fault. A committed
// page counts against the commit limit, memory and page file together, from then on; it has memory from
// its first use on. Where there is no room a commit fails, and no later use does. So little is committed
// ahead, and all that is given back is decommitted: the page leaves memory and the commit charge, and it
// faults. There is no bound on mappings, so each page in quarantine faults.

// A mapping is what a region remembers here: the first address of the reservation. It can go back only
// as a whole, so ranges give up no addresses.
type mapping struct{ base uintptr }

// tryPages refuses huge pages. Small ones are what there is anyway.
func (d *mmap) tryPages() error {
	if d.pages != "huge" {
		return nil
	}
	return fmt.Errorf("those of Windows are locked, need a privilege, and go back as a whole: %w", ErrUnavailable)
}

// granularity is what each reservation is aligned to.
const granularity = 64 << 10

// mapped makes a region of size bytes at a multiple of align. A larger align than the system's takes
// as many addresses more, which stay with the region.
func (d *mmap) mapped(size, align int, use bool) (*mmapRegion, error) {
	spare := 0
	if align > granularity {
		spare = align
	}
	base, err := virtualAlloc(0, size+spare, memReserve, pageNoAccess)
	if err != nil {
		return nil, fmt.Errorf("device: VirtualAlloc of %d addresses: %v: %w", size+spare, err, sentinel(err))
	}
	r := &mmapRegion{dev: d, mapping: mapping{base}}
	at := (base + uintptr(spare)) &^ uintptr(max(spare, 1)-1)
	r.size.Store(int64(size))
	r.mem.Store(*(**byte)(unsafe.Pointer(&at))) // no memory of Go's, as vet fears
	if use {
		if err := commit(r.Bytes(), 0, size); err != nil {
			r.unmap()
			return nil, err
		}
	}
	return r, nil
}

func commit(m []byte, lo, hi int) error {
	if _, err := virtualAlloc(address(m[lo:]), hi-lo, memCommit, pageReadWrite); err != nil {
		return fmt.Errorf("device: commit of %d bytes at %d: %v: %w", hi-lo, lo, err, sentinel(err))
	}
	return nil
}

// release decommits the pages of m[lo:hi]. For no bytes Windows would decommit the whole region.
func release(m []byte, lo, hi int) error {
	if lo >= hi {
		return nil
	}
	if err := virtualFree(address(m[lo:]), hi-lo, memDecommit); err != nil {
		return fmt.Errorf("device: decommit of %d bytes at %d: %v: %w", hi-lo, lo, err, sentinel(err))
	}
	return nil
}

// fullErrors say that there is no room: for what is asked of the system, of the process or its job, and for
// sizes that no address space has. They are ERROR_NOT_ENOUGH_MEMORY, ERROR_OUTOFMEMORY,
// ERROR_INVALID_PARAMETER, ERROR_COMMITMENT_LIMIT and ERROR_NOT_ENOUGH_QUOTA.
var fullErrors = []syscall.Errno{8, 14, 87, 1455, 1816}

// sentinel returns our error for an error of the system.
func sentinel(err error) error {
	if no := syscall.Errno(0); errors.As(err, &no) && slices.Contains(fullErrors, no) {
		return ErrOutOfMemory
	}
	return ErrUnavailable
}

// shut has nothing to do: pages that were given back fault.
func (r *mmapRegion) shut([]byte, int, int) {}

// free gives back the region. That fails for no region of ours; else it gives back its pages.
func (r *mmapRegion) free(m []byte) {
	if virtualFree(r.base, 0, memRelease) != nil {
		_ = release(m, 0, len(m))
	}
}

// addresses returns the number of addresses that the region has.
func (r *mmapRegion) addresses() int { return r.Size() }

// An mmapRange is reserved addresses. The first ready bytes are committed, but for bytes that Decommit
// gave back; so are bytes that were committed above them.
type mmapRange struct {
	r     *mmapRegion
	ready int
	top   int // the end of the bytes that Commit was asked for
}

func (d *mmap) asRange(r *mmapRegion) Range { return &mmapRange{r: r} }

// A range commits aheadBytes ahead, or a part of what is ready if that is more.
const (
	aheadBytes = 1 << 20
	aheadShare = 16
)

// Ready returns the end of the bytes that were committed from 0.
func (g *mmapRange) Ready() int { return g.ready }

// Commit makes no call for bytes above the top that are committed.
func (g *mmapRange) Commit(off, n int) error {
	m, err := g.toCommit(off, n)
	if err != nil || n == 0 {
		return err
	}
	if off < g.top || off+n > g.ready {
		err = g.commit(m, off, off+n)
	}
	if err == nil {
		g.top = max(g.top, off+n)
	}
	return err
}

// commit commits m[lo:hi], and more behind it where these become the last ready bytes, if the system
// has room.
func (g *mmapRange) commit(m []byte, lo, hi int) error {
	if lo > g.ready || hi <= g.ready {
		return commit(m, lo, hi)
	}
	ahead := min(roundUp(hi+hi/aheadShare, aheadBytes), len(m))
	err := commit(m, lo, ahead)
	if err != nil && ahead > hi {
		ahead = hi
		err = commit(m, lo, hi)
	}
	if err == nil {
		g.ready = ahead
	}
	return err
}

// Decommit at the top gives back what was committed ahead, too.
func (g *mmapRange) Decommit(off, n int) error {
	m, err := g.check(off, n)
	if err != nil || n == 0 {
		return err
	}
	if off+n != g.top {
		return release(m, off, off+n)
	}
	if err := release(m, off, max(g.top, g.ready)); err != nil {
		return err
	}
	g.top, g.ready = off, min(off, g.ready)
	return nil
}
