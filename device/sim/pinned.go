package sim

import (
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// hostMemory is where page-locked memory comes from. Package device has the
// heap built in, so Open cannot fail.
var hostMemory, _ = device.Open("heap")

// Pinned makes the Device a [device.Pinner]. Calls of Alloc strike the faults
// of the device and count in its statistics.
func (d *Device) Pinned() (device.Device, error) {
	if err := d.begin(); err != nil {
		return nil, err
	}
	return &d.pinned, nil
}

func (p *pinned) Alloc(size int) (device.Block, error) { return p.AllocAligned(size, 1) }

// AllocAligned is Alloc of memory at a multiple of align, a power of two.
func (p *pinned) AllocAligned(size, align int) (device.Block, error) {
	if err := p.CheckAlloc(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	m, failed := alignedHost(size, align) // without the lock: it may take a while
	d := p.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.countAlloc(p.Name(), size); err != nil {
		return device.Block{}, err // and m to the collector
	}
	if failed != nil {
		return device.Block{}, fmt.Errorf("sim: alloc on %s: %w", p.Name(), failed)
	}
	d.stats.PinnedBlocks++
	d.stats.PinnedBytes += int64(size)
	return device.Block{Region: &pinnedRegion{dev: p, m: m}, Len: size}, nil
}

// alignedHost returns Go memory. What is before and behind it stays with it.
func alignedHost(size, align int) ([]byte, error) {
	if align <= hostAlign {
		b, err := hostMemory.Alloc(size)
		return device.Bytes(b), err
	}
	b, err := hostMemory.Alloc(size + align)
	if err != nil {
		return nil, err
	}
	m := device.Bytes(b)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) & uintptr(align-1))
	return m[off : off+size : off+size], nil
}

// hostAlign is what device heap aligns by itself, where the size is a multiple of it.
const hostAlign = 4096

// Free works on a lost and on a closed device too.
func (p *pinned) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	r, ok := b.Region.(*pinnedRegion)
	if !ok || r.dev != p || b.Off != 0 || b.Len != len(r.m) || r.gone.Swap(true) {
		p.BadFree(b.Len, b.Off)
	}
	d := p.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.FreeCalls++
	d.stats.PinnedBlocks--
	d.stats.PinnedBytes -= int64(b.Len)
}

// MemInfo is that of heap: page-locked memory is memory of the machine.
func (p *pinned) MemInfo() (free, total int64, err error) {
	if err := p.Usable(); err != nil {
		return 0, 0, err
	}
	return hostMemory.MemInfo()
}

// Copy and streams are those of the device.
func (p *pinned) Copy(dst, src device.Block) error {
	if err := p.Usable(); err != nil {
		return err
	}
	return p.dev.Copy(dst, src)
}

func (p *pinned) NewStream() (device.Stream, error) {
	if err := p.Usable(); err != nil {
		return nil, err
	}
	return p.dev.NewStream()
}

var _ device.HostRegion = (*pinnedRegion)(nil)

// UnderWay is [Device.UnderWay].
func (p *pinned) UnderWay(b device.Block, but ...device.Stream) bool {
	return p.dev.UnderWay(b, but...)
}
