package unified

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"weak"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/slab"
)

// A memory is where buffers of one device have theirs from: three pools, that
// of the host shared by all devices. It lives as long as a buffer of it, and
// a collection or two longer; a pool that is forgotten gives its memory back.
type memory struct {
	dev    device.Device
	device *slab.Pool
	pinned func() (*slab.Pool, error)
}

// hostPool is that of host memory that is not pinned.
var hostPool = sync.OnceValues(func() (*slab.Pool, error) { return slab.OpenConfig(slab.Config{}) })

func newMemory(d device.Device) (*memory, error) {
	p, err := slab.Open(d, slab.Config{})
	if err != nil {
		return nil, err
	}
	return &memory{dev: d, device: p, pinned: sync.OnceValues(func() (*slab.Pool, error) { return openPinned(d) })}, nil
}

// openPinned fails where there is no page-locked memory: memory that is not
// would be slower than asked for, without a sign of it.
func openPinned(d device.Device) (*slab.Pool, error) {
	p, ok := d.(device.Pinner)
	if !ok {
		return nil, fmt.Errorf("unified: %s has no page-locked host memory: %w", d.Name(), device.ErrUnavailable)
	}
	m, err := p.Pinned()
	if err != nil {
		return nil, err
	}
	return slab.Open(m, slab.Config{})
}

// pool returns the one for a side.
func (m *memory) pool(d side, pinned bool) (*slab.Pool, error) {
	switch {
	case d == onDevice:
		return m.device, nil
	case pinned:
		return m.pinned()
	}
	return hostPool()
}

// defaultCallBytes stands for devices that do not say what a call costs: less
// than what any bus moves in the microsecond that a call takes at the least.
const defaultCallBytes = 4 << 10

// callBytes is how many bytes are cheaper to copy than to make another call.
func (m *memory) callBytes() int {
	if n := device.TraitsOf(m.dev).CallBytes; n != 0 {
		return max(n, 0)
	}
	return defaultCallBytes
}

// memories finds the memory of a device. It holds one strongly from its last
// use until the second collection after it: a program that has no buffer for a
// moment keeps its pools, and a device that was forgotten goes. One that was
// closed goes when the next device comes, too.
var memories = struct {
	sync.Mutex
	of map[device.Device]*entry
}{of: map[device.Device]*entry{}}

type entry struct {
	dev    device.Device
	weak   weak.Pointer[memory]
	strong *memory
	idle   int // collections since the last use
}

// memoryOf returns the memory of a device, the same one at each call.
func memoryOf(d device.Device) (*memory, error) {
	if d == nil {
		return nil, fmt.Errorf("unified: no device: %w", device.ErrUnavailable)
	}
	if !reflect.ValueOf(d).Comparable() {
		return newMemory(d) // it cannot be told from others, so nothing is shared
	}
	memories.Lock()
	defer memories.Unlock()
	if e := memories.of[d]; e != nil {
		if m := e.weak.Value(); m != nil {
			e.strong, e.idle = m, 0
			return m, nil
		}
	}
	m, err := newMemory(d)
	if err != nil {
		return nil, err
	}
	dropClosed()
	e := &entry{dev: d, weak: weak.Make(m), strong: m}
	memories.of[d] = e
	gcwatch.Notify(e, (*entry).collected)
	return m, nil
}

// dropClosed closes the pools of devices that are closed. What is out stays
// valid.
func dropClosed() {
	for d, e := range memories.of {
		if _, err := d.Alloc(0); !errors.Is(err, device.ErrClosed) {
			continue // of all calls this one disturbs a device least
		}
		if m := e.weak.Value(); m != nil {
			_ = m.device.Close()
		}
		delete(memories.of, d)
	}
}

// collected is called after each collection. It lets go of a memory that was
// idle for two of them, and forgets one that no buffer has kept.
func (e *entry) collected() (more bool) {
	memories.Lock()
	defer memories.Unlock()
	if e.idle++; e.idle >= 2 {
		e.strong = nil
	}
	if e.weak.Value() != nil {
		return true
	}
	if memories.of[e.dev] == e {
		delete(memories.of, e.dev)
	}
	return false
}
