package unified

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// A memory is the source of arrays' memory: a slab.Pool of the device and one or two of
// the host. All buffers of New and NewPool on a device share one memory, see memories. The
// memory of NewPoolOn is the caller's.
type memory struct {
	dev    device.Device
	device *slab.Pool
	host   *source
	pinned *source // may be host

	shared   bool // the device's memory is the host's too: see [device.Traits]
	uncopied tally
}

// A tally counts the copies that shared memory saves.
type tally struct{ calls, bytes atomic.Int64 }

func (t *tally) add(n int) {
	t.calls.Add(1)
	t.bytes.Add(int64(n))
}

// Usage has the Stats of the slab pools that a [Pool] draws on, zeros for a slab pool that was
// never used. Acquired and kept buffers are active there. Other users of these slab pools count,
// too. If all host memory is page-locked it is in Pinned.
//
// HeldBytes of a side is memory that its slab pool holds, and PeakManagedBytes the most that the slab
// pool had. Where CPU and device share the memory, Usage counts the copies that were not made.
type Usage struct {
	Device, Host, Pinned         slab.Stats
	UncopiedCalls, UncopiedBytes int64
}

// A source is a slab.Pool that is opened when it is first asked for.
type source struct {
	open func() (*slab.Pool, error)
	mu   sync.Mutex // held while it is opened
	pool *slab.Pool
}

// hosts is the host memory that is not pinned, of all devices.
var hosts = &source{open: func() (*slab.Pool, error) { return slab.OpenConfig(slab.Config{}) }}

func (s *source) get() (*slab.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		p, err := s.open()
		if err != nil {
			return nil, err
		}
		s.pool = p
	}
	return s.pool, nil
}

// opened returns the slab.Pool, nil if no call has asked for it.
func (s *source) opened() *slab.Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pool
}

// newMemory opens the pools of a device that all its buffers share.
func newMemory(d device.Device) (*memory, error) {
	p, err := slab.Open(d, slab.Config{})
	if err != nil {
		return nil, err
	}
	return &memory{dev: d, device: p, host: hosts, pinned: pinnedOf(d), shared: device.TraitsOf(d).Shared}, nil
}

// memoryOn is the memory of the caller's pools. If there is a host pool, all host memory
// comes from it, so that no memory goes past its budget.
func memoryOn(host, dev *slab.Pool) (*memory, error) {
	if dev == nil {
		return nil, fmt.Errorf("unified: no slab.Pool for the device side: %w", device.ErrUnavailable)
	}
	d := dev.Device()
	if d == nil {
		return nil, fmt.Errorf("unified: the slab.Pool for the device side draws on an Allocator that names no device to copy with: %w", device.ErrUnavailable)
	}
	m := &memory{dev: d, device: dev, host: hosts, pinned: pinnedOf(d), shared: host == nil &&
		device.TraitsOf(d).Shared}
	if host != nil {
		if _, err := host.Get(-1); errors.Is(err, slab.ErrClosed) { // or one that Open did not return
			return nil, fmt.Errorf("unified: no slab.Pool for the host side: %w", err)
		}
		m.host = &source{pool: host}
		m.pinned = m.host
		if !isPinned(host) {
			m.pinned = &source{open: func() (*slab.Pool, error) {
				return nil, fmt.Errorf("unified: the slab.Pool for the host side is not page-locked memory, such as %s:pinned: %w", d.Name(), device.ErrUnavailable)
			}}
		}
	}
	return m, nil
}

// isPinned reports whether a pool is of page-locked memory: see [device.Pinner] for the
// names of such devices.
func isPinned(p *slab.Pool) bool {
	d := p.Device()
	return d != nil && strings.HasSuffix(d.Name(), ":pinned")
}

// pinnedOf fails to open where there is no page-locked memory: other memory would be
// slower, without a sign of it.
func pinnedOf(d device.Device) *source {
	return &source{open: func() (*slab.Pool, error) {
		p, ok := d.(device.Pinner)
		if !ok {
			return nil, fmt.Errorf("unified: %s has no page-locked host memory: %w", d.Name(), device.ErrUnavailable)
		}
		m, err := p.Pinned()
		if err != nil {
			return nil, err
		}
		return slab.Open(m, slab.Config{})
	}}
}

// pool returns the slab.Pool of a side.
func (m *memory) pool(d side, pinned bool) (*slab.Pool, error) {
	switch {
	case d == onDevice || m.shared:
		return m.device, nil
	case pinned:
		return m.pinned.get()
	}
	return m.host.get()
}

// allPinned reports whether all host memory is page-locked.
func (m *memory) allPinned() bool { return m.host == m.pinned }

// pools returns the open slab pools, each once.
func (m *memory) pools() []*slab.Pool {
	if m == nil {
		return nil
	}
	list := []*slab.Pool{m.device}
	if p := m.host.opened(); p != nil && p != m.device {
		list = append(list, p)
	}
	if p := m.pinned.opened(); p != nil && !m.allPinned() {
		list = append(list, p)
	}
	return list
}

// usage returns the statistics of the pools.
func (m *memory) usage() (u Usage) {
	if m == nil {
		return u
	}
	u.Device = m.device.Stats()
	u.UncopiedCalls, u.UncopiedBytes = m.uncopied.calls.Load(), m.uncopied.bytes.Load()
	if p := m.pinned.opened(); p != nil {
		u.Pinned = p.Stats()
	}
	if p := m.host.opened(); p != nil && !m.allPinned() {
		u.Host = p.Stats()
	}
	return u
}

// freeHeld gives back the held memory of the pools.
func (m *memory) freeHeld() {
	for _, p := range m.pools() {
		p.FreeHeld()
	}
}

// defaultCallBytes is for devices that do not say what a call costs. Any bus moves
// more in the microsecond that a call takes at least.
const defaultCallBytes = 4 << 10

// callBytes is the number of bytes that are cheaper to copy than another call.
func (m *memory) callBytes() int {
	if m.shared {
		return 0
	}
	if n := device.TraitsOf(m.dev).CallBytes; n != 0 {
		return max(n, 0)
	}
	return defaultCallBytes
}
