package unified

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"
	"weak"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/internal/inside"
)

// memories finds the memory that all buffers of a device share. It holds a memory strongly
// for idleMemory after its last use, until the next collection: a program without buffers
// for a while keeps its pools, and a forgotten device goes. The memory of a closed device
// goes when the next device comes, too.
var memories = struct {
	sync.Mutex
	of map[device.Device]*entry
}{of: map[device.Device]*entry{}}

type entry struct {
	dev    device.Device
	weak   weak.Pointer[memory]
	strong *memory
	used   time.Time
}

// idleMemory is the time for which the memory of a device without buffers is kept.
const idleMemory = time.Minute

// memoryOf returns the memory of a device, the same at each call.
func memoryOf(d device.Device) (*memory, error) {
	if d == nil {
		return nil, fmt.Errorf("unified: no device: %w", device.ErrUnavailable)
	}
	if !reflect.ValueOf(d).Comparable() {
		return newMemory(d) // devices of this type cannot be compared, so nothing is shared
	}
	memories.Lock()
	defer memories.Unlock()
	if e := memories.of[d]; e != nil {
		if m := e.weak.Value(); m != nil {
			e.strong, e.used = m, time.Now()
			return m, nil
		}
	}
	m, err := newMemory(d)
	if err != nil {
		return nil, err
	}
	dropClosed()
	e := &entry{dev: d, weak: weak.Make(m), strong: m, used: time.Now()}
	memories.of[d] = e
	gcwatch.Notify(e, (*entry).collected)
	return m, nil
}

// dropClosed closes the pools of devices that are closed. Active buffers stay
// valid.
func dropClosed() {
	for d, e := range memories.of {
		if _, err := d.Alloc(0); !errors.Is(err, device.ErrClosed) {
			continue // of all calls this disturbs a device least
		}
		if m := e.weak.Value(); m != nil {
			_ = inside.Close(m.device)
		}
		delete(memories.of, d)
	}
}

// collected is called after each collection. It drops its reference to a memory that was not
// used for idleMemory, and the entry of a memory that no buffer has kept alive.
func (e *entry) collected() (more bool) {
	memories.Lock()
	defer memories.Unlock()
	if time.Since(e.used) >= idleMemory {
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

// FreeHeld gives back all held memory of the pools of [New], [NewPinned] and [NewPool], on
// every device and on the host: memory of freed buffers. It does not touch active buffers,
// nor buffers that a [Pool] keeps: see [Pool.Clear]. Memory that streams still use stays
// until a later call.
func FreeHeld() {
	all := []*memory{}
	memories.Lock()
	for _, e := range memories.of {
		if m := e.weak.Value(); m != nil {
			all = append(all, m)
		}
	}
	memories.Unlock()
	for _, m := range all {
		m.freeHeld()
	}
	if p := hosts.opened(); p != nil {
		p.FreeHeld()
	}
}
