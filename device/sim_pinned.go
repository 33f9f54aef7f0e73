package device

import (
	"fmt"
	"sync/atomic"
)

// simPinned is the page-locked host memory of a [Sim]: Go memory that the
// streams of the device know, at any size. It is no part of the device's
// capacity. Unlike the heap's it is not the collector's to take: a pool
// has to treat it as it would the real thing.
type simPinned struct {
	common
	sim *Sim
}

// Pinned makes the Sim a [Pinner]. Calls of Alloc strike the faults of the
// device and count in its statistics.
func (s *Sim) Pinned() (Device, error) {
	if err := s.strike(callOther); err != nil {
		return nil, err
	}
	return &s.pinned, nil
}

func (d *simPinned) Alloc(size int) (Block, error) {
	if err := d.checkAlloc(size); err != nil || size == 0 {
		return Block{}, err
	}
	if size > heapLimit() {
		return Block{}, d.errNoRoom(size)
	}
	s := d.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	s.stats.AllocCalls++
	if err := s.faults.strike(callAlloc); err != nil {
		return Block{}, fmt.Errorf("device: alloc of %d bytes on %s, call %d: %w", size, d.name, s.stats.AllocCalls, err)
	}
	s.stats.PinnedBlocks++
	s.stats.PinnedBytes += int64(size)
	m, off := makeAligned(size)
	return Block{Region: &pinnedRegion{dev: d, m: m[off : off+size : off+size]}, Len: size}, nil
}

// Free works on a lost and on a closed device too.
func (d *simPinned) Free(b Block) {
	if b == (Block{}) {
		return
	}
	r, ok := b.Region.(*pinnedRegion)
	if !ok || r.dev != d || b.Off != 0 || b.Len != len(r.m) || r.gone.Swap(true) {
		d.badFree(b)
	}
	s := d.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.FreeCalls++
	s.stats.PinnedBlocks--
	s.stats.PinnedBytes -= int64(b.Len)
}

// MemInfo is that of heap: page-locked memory is memory of the machine.
func (d *simPinned) MemInfo() (free, total int64, err error) {
	if err := d.usable(); err != nil {
		return 0, 0, err
	}
	return systemMemory()
}

// Copy and streams are those of the device.
func (d *simPinned) Copy(dst, src Block) error {
	if err := d.usable(); err != nil {
		return err
	}
	return d.sim.Copy(dst, src)
}

func (d *simPinned) NewStream() (Stream, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	return d.sim.NewStream()
}

// A pinnedRegion is one allocation of page-locked memory.
type pinnedRegion struct {
	dev  *simPinned
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
