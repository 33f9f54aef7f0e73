package upstream

import (
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A Checked draws on a source and verifies the blocks that come, unless a
// layer below has done so. It is a value: each layer of a stack has its own.
type Checked struct {
	source  device.Allocator
	regions bool // every block is a region of its own, as a device's are
	align   int  // of addresses in host memory, a power of two
	verify  bool // no layer below does it
}

// Check returns a Checked that draws on source. Host memory has to begin at a
// multiple of align, a power of two. Regions says that every block is a region
// of its own.
func Check(source device.Allocator, regions bool, align int) Checked {
	below := vouchedBy(source)
	return Checked{source: source, regions: regions, align: max(align, below), verify: below < align}
}

// A Voucher is embedded in a source of this module whose blocks need no
// verifying. The zero Voucher vouches for nothing.
type Voucher struct {
	align  int
	giveUp func(pages device.Block, n int64) bool // nil: the region's Quarantine is all

	aligned func(size, align int) (device.Block, error) // nil: no more than Alloc aligns
}

func (v Voucher) vouches() int { return v.align }

func (v Voucher) gives() func(device.Block, int64) bool { return v.giveUp }

func (v Voucher) aligns() func(size, align int) (device.Block, error) { return v.aligned }

// ThatAligns is for a source that draws on one which may align to more than it was told of: aligned is
// Alloc of a block at a multiple of align.
func (v Voucher) ThatAligns(aligned func(size, align int) (device.Block, error)) Voucher {
	v.aligned = aligned
	return v
}

// ThatGivesUp is for a source that counts what it hands out: giveUp is what [GiveUp] calls.
func (v Voucher) ThatGivesUp(giveUp func(pages device.Block, n int64) bool) Voucher {
	v.giveUp = giveUp
	return v
}

// Vouching is what a Voucher makes of a source.
type Vouching interface {
	vouches() int
	gives() func(device.Block, int64) bool
	aligns() func(size, align int) (device.Block, error)
}

// Vouch is for a source that cuts its blocks from valid ones.
func Vouch() Voucher { return Voucher{align: 1} }

// Voucher is for a source that returns what it has drawn from c as it is.
func (c Checked) Voucher() Voucher { return Voucher{align: c.align} }

// VoucherOf is for a source that returns the blocks of another as they are.
func VoucherOf(s device.Allocator) Voucher { return Voucher{align: vouchedBy(s)} }

// vouchedBy returns the alignment that s vouches for, 0 if for nothing.
func vouchedBy(s device.Allocator) int {
	if v, ok := s.(Vouching); ok {
		return v.vouches()
	}
	return 0
}

// Alloc draws a block of size bytes, which is above 0. What breaks the contract
// goes back, and the error wraps ErrUpstream.
func (c Checked) Alloc(size int) (device.Block, error) {
	b, err := c.draw(size)
	if err != nil {
		return device.Block{}, err
	}
	if !c.verify {
		return b, nil
	}
	if fault := c.fault(b, size); fault != "" {
		if b.Region != nil {
			c.source.Free(b)
		}
		return device.Block{}, fmt.Errorf("%w: %s for %d bytes", ErrUpstream, fault, size)
	}
	return b, nil
}

// leastAlign is what every device aligns host memory to.
const leastAlign = 16

// An aligner is a device, or what draws on one, whose regions can be aligned to more.
type aligner interface {
	AllocAligned(size, align int) (device.Block, error)
}

// draw asks for an aligned block where the source would not make one of itself.
func (c Checked) draw(size int) (device.Block, error) {
	if c.align > leastAlign {
		return AllocAligned(c.source, size, c.align)
	}
	return c.source.Alloc(size)
}

// AllocAligned asks a source for a block whose host memory begins at a multiple of align, if it can tell
// its device so. Else the block is one of Alloc.
func AllocAligned(s device.Allocator, size, align int) (device.Block, error) {
	if v, ok := s.(Vouching); ok && v.aligns() != nil {
		return v.aligns()(size, align)
	}
	if a, ok := s.(aligner); ok {
		return a.AllocAligned(size, align)
	}
	return s.Alloc(size)
}

// AllocAligned draws a block at a multiple of align at least.
func (c Checked) AllocAligned(size, align int) (device.Block, error) {
	c.verify, c.align = c.verify || align > c.align, max(c.align, align)
	return c.Alloc(size)
}

// fault says what is wrong with a block of size bytes, or "".
func (c Checked) fault(b device.Block, size int) string {
	switch {
	case b.Region == nil:
		return "no region"
	case b.Len != size:
		return fmt.Sprintf("a block of %d bytes", b.Len)
	case b.Off < 0 || b.Region.Size()-b.Off < size:
		return fmt.Sprintf("a region of %d bytes, offset %d", b.Region.Size(), b.Off)
	}
	if m := device.Bytes(b); m != nil {
		if a := uintptr(unsafe.Pointer(unsafe.SliceData(m))); a&uintptr(c.align-1) != 0 {
			return fmt.Sprintf("an address that is no multiple of %d, %#x,", c.align, a)
		}
	}
	return ""
}

// Free gives a block back.
func (c Checked) Free(b device.Block) { c.source.Free(b) }

// GiveUp puts whole pages of a region in quarantine, and takes n bytes for them out of
// every budget. They are never freed. It reports whether the pages have gone.
func (c Checked) GiveUp(pages device.Block, n int64) bool { return GiveUp(c.source, pages, n) }

// GiveUp has a source give up pages that came from it; see [Checked.GiveUp].
func GiveUp(s device.Allocator, pages device.Block, n int64) bool {
	if v, ok := s.(Vouching); ok && v.gives() != nil {
		return v.gives()(pages, n)
	}
	if g, ok := s.(interface {
		GiveUp(device.Block, int64) bool
	}); ok { // an Accounting, or the source of a test: what package slab exports has no such method
		return g.GiveUp(pages, n)
	}
	q, ok := pages.Region.(device.Quarantiner)
	return ok && q.Quarantine(pages.Off, pages.Len) == nil
}

// FreeAll gives blocks back. Where the source panics, keep gets those that are left,
// the one that it would not take first.
func (c Checked) FreeAll(list []device.Block, keep func(left []device.Block)) {
	i := 0
	defer func() {
		if i < len(list) {
			keep(list[i:])
		}
	}()
	for ; i < len(list); i++ {
		c.Free(list[i])
	}
}

// Reserve asks the source for a range. The error wraps device.ErrUnavailable
// where it cannot extend regions.
func (c Checked) Reserve(size int) (device.Range, error) { return Reserve(c.source, size) }

// Reserve asks a source for a range; see [Checked.Reserve].
func Reserve(s device.Allocator, size int) (device.Range, error) {
	r, ok := s.(device.Reserver)
	if !ok {
		return nil, fmt.Errorf("slab: the upstream cannot extend regions: %w", device.ErrUnavailable)
	}
	return r.Reserve(size)
}

// Ready returns the end of the bytes of r whose Commit takes no call, and so is none that
// counts. It is negative where each is: where r is no [device.LazyRange].
func Ready(r device.Range) int {
	if l, ok := r.(device.LazyRange); ok {
		return l.Ready()
	}
	return -1
}

// OwnsRegions reports whether every block is a region of its own.
func (c Checked) OwnsRegions() bool { return c.regions }

// Footprint returns what a block costs: the whole region where it is one of its
// own, which may be larger than asked.
func (c Checked) Footprint(b device.Block) int64 {
	if c.regions && b.Region != nil {
		return int64(b.Region.Size())
	}
	return int64(b.Len)
}
