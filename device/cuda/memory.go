//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

// A source is a kind of memory: how the driver gives it and takes it back.
// Its methods are called with the context current.
type source interface {
	alloc(size int) (cu.DevicePtr, error)
	free(p cu.DevicePtr) error
	// reachable says whether the CPU can use the addresses.
	reachable() bool
	memInfo() (free, total int64, err error)
	close() error
}

// most bounds what is asked of the driver: more than any device has.
const most = 1 << 46

// A memory is a device: one kind of memory of one GPU.
type memory struct {
	*gpu
	*base.Device
	base.Owner // in page-locked memory
	source     source
	pinned     func() *memory // made when first asked for; nil in page-locked memory itself
}

func newMemory(name string, g *gpu, from source) *memory {
	m := &memory{gpu: g, Device: base.Named("cuda", name), source: from}
	if _, is := from.(pinned); !is {
		m.pinned = sync.OnceValue(func() *memory { return newMemory(name+":pinned", g, pinned{}) })
	}
	return m
}

// Pinned makes m a device.Pinner.
func (m *memory) Pinned() (device.Device, error) {
	if err := m.Usable(); err != nil {
		return nil, err
	}
	if m.pinned == nil {
		return nil, fmt.Errorf("cuda: %s is page-locked itself: %w", m.Name(), device.ErrUnavailable)
	}
	return m.pinned(), nil
}

func (m *memory) checkAlloc(size int) error {
	if err := m.CheckAlloc(size); err != nil {
		return err
	}
	if size > most {
		return m.AllocError(size, device.ErrOutOfMemory)
	}
	return nil
}

func (m *memory) Alloc(size int) (device.Block, error) {
	if err := m.checkAlloc(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	r := &region{owner: m, size: size, free: m.source.free}
	err := m.do(func() (err error) {
		r.addr, err = m.source.alloc(size)
		return err
	})
	if err != nil {
		return device.Block{}, m.AllocError(size, err)
	}
	if m.source.reachable() {
		r.host = hostBytes(r.addr, size)
	}
	_, r.portable = m.source.(pinned)
	return device.Block{Region: r, Len: size}, nil
}

// Free works on a closed and on a lost device too. The driver's answer tells nothing
// about the block, which was found to be one, but of work that went wrong
// before, and the next call is told that again.
func (m *memory) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	r, ok := b.Region.(*region)
	if !ok || r.owner != m || r.free == nil || b.Off != 0 || b.Len != r.size || r.gone.Swap(true) {
		m.BadFree(b.Len, b.Off)
	}
	_ = m.do(func() error { return r.free(r.addr) })
}

func (m *memory) MemInfo() (free, total int64, err error) {
	if err := m.Usable(); err != nil {
		return 0, 0, err
	}
	err = m.do(func() (err error) {
		free, total, err = m.source.memInfo()
		return err
	})
	return free, total, err
}

// Close keeps the context, for the next device that is opened on this GPU. It
// closes the page-locked memory that Pinned returned.
func (m *memory) Close() error {
	if owns, err := base.CloseParent(&m.Owner); owns {
		return err
	}
	if err := m.Device.Close(); err != nil {
		return err
	}
	if m.pinned != nil {
		_ = m.pinned().Device.Close()
	}
	return m.do(m.source.close)
}

// A region is one allocation, or a range of addresses.
type region struct {
	owner *memory
	addr  cu.DevicePtr
	size  int
	host  []byte                     // nil where the CPU cannot reach it
	free  func(p cu.DevicePtr) error // nil for a range, which is no block of Alloc
	gone  atomic.Bool

	portable bool // every GPU reaches it: page-locked memory
}

func (r *region) Size() int { return r.size }

func (r *region) Bytes() []byte {
	if r.gone.Load() {
		return nil
	}
	return r.host
}

// Addr returns the address on the GPU, for kernels and other libraries. It is
// had by a type assertion to interface{ Addr() uintptr }.
func (r *region) Addr() uintptr { return uintptr(r.addr) }
