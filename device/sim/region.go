package sim

import (
	"fmt"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

const (
	firstAddr = 1 << 44 // no address that a host pointer is likely to have
	addrAlign = 256     // of addresses, as accelerators have it
	pageBytes = 64 << 10
	fresh     = 0xDB // contents that were never written
)

var _ device.Region = (*Region)(nil)

// A Region is one allocation of a [Device]. Its memory lives in pages of the
// Go heap that are made when they are first written: a device of many GiB fits
// any machine as long as little of it is used.
type Region struct {
	dev   *Device
	addr  uint64
	size  int
	gone  bool // freed
	pages map[int]*[pageBytes]byte
}

// Size returns the bytes asked for.
func (r *Region) Size() int { return r.size }

// Addr returns the address on the device, a multiple of 256. It means nothing
// to the CPU, and no other region of the same device ever has it.
func (r *Region) Addr() uint64 { return r.addr }

// Alloc gives every region an address of its own that was never used before.
func (d *Device) Alloc(size int) (device.Block, error) {
	if err := d.base.CheckAlloc(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.countAlloc(d.Name(), size); err != nil {
		return device.Block{}, err
	}
	if free := d.free(); int64(size) > free {
		return device.Block{}, fmt.Errorf("sim: alloc of %d bytes on %s, which has %d of %d left: %w",
			size, d.Name(), free, d.capacity, device.ErrOutOfMemory)
	}
	d.stats.ActiveBlocks++
	d.stats.ActiveBytes += int64(size)
	d.stats.PeakBytes = max(d.stats.PeakBytes, d.stats.ActiveBytes)
	r := &Region{dev: d, addr: firstAddr + d.next, size: size}
	d.next += uint64(size)/addrAlign*addrAlign + 2*addrAlign // a gap: neighbours never touch
	return device.Block{Region: r, Len: size}, nil
}

// countAlloc counts a call of Alloc, on the device or its page-locked memory,
// and returns the fault that strikes it. The caller holds mu.
func (d *Device) countAlloc(name string, size int) error {
	d.tick()
	d.stats.AllocCalls++
	if err := d.strike(callAlloc); err != nil {
		return fmt.Errorf("sim: alloc of %d bytes on %s, call %d: %w", size, name, d.stats.AllocCalls, err)
	}
	return nil
}

// free returns the bytes that are left. The caller holds mu.
func (d *Device) free() int64 { return d.capacity - d.stats.ActiveBytes }

// Free works on a lost and on a closed device too, so that a program can always
// give its memory back. [Device.Lose] does not count it.
func (d *Device) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	r, ok := b.Region.(*Region)
	if !ok || r.dev != d || b.Off != 0 || b.Len != r.size || r.gone {
		d.base.BadFree(b.Len, b.Off)
	}
	r.gone, r.pages = true, nil
	d.stats.FreeCalls++
	d.stats.ActiveBlocks--
	d.stats.ActiveBytes -= int64(r.size)
}

// MemInfo counts exactly what was asked for.
func (d *Device) MemInfo() (free, total int64, err error) {
	if err := d.begin(); err != nil {
		return 0, 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.free(), d.capacity, nil
}

// A pinnedRegion is one allocation of page-locked memory.
type pinnedRegion struct {
	dev  *pinned
	m    []byte
	gone atomic.Bool
}

func (r *pinnedRegion) Size() int { return len(r.m) }

func (r *pinnedRegion) Bytes() []byte {
	if r.gone.Load() {
		return nil
	}
	return r.m
}

// The caller of all below holds the device's mu.

// write copies m to off, a page at a time.
func (r *Region) write(off int, m []byte) {
	for len(m) > 0 {
		n := copy(r.page(off / pageBytes)[off%pageBytes:], m)
		m, off = m[n:], off+n
	}
}

// page returns a page to write to.
func (r *Region) page(i int) *[pageBytes]byte {
	p := r.pages[i]
	if p == nil {
		p = new([pageBytes]byte)
		device.Fill(p[:], fresh)
		if r.pages == nil {
			r.pages = make(map[int]*[pageBytes]byte)
		}
		r.pages[i] = p
	}
	return p
}

// read copies from off to m. It makes no page that was never written.
func (r *Region) read(m []byte, off int) {
	for len(m) > 0 {
		n := min(len(m), pageBytes-off%pageBytes)
		if p := r.pages[off/pageBytes]; p != nil {
			copy(m[:n], p[off%pageBytes:])
		} else {
			device.Fill(m[:n], fresh)
		}
		m, off = m[n:], off+n
	}
}

// fill sets n bytes from off.
func (r *Region) fill(off, n int, value byte) {
	for end := off + n; off < end; {
		n := min(end-off, pageBytes-off%pageBytes)
		device.Fill(r.page(off / pageBytes)[off%pageBytes:][:n], value)
		off += n
	}
}
