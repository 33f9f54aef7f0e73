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
)

// memories finds the memory that all buffers of a device share. It holds one strongly
// for idleMemory after its last use, and until a collection has come by: a program that
// has no buffer for a while keeps its pools, and a device that was forgotten goes. One
// that was closed goes when the next device comes, too.
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

// idleMemory is how long the memory of a device that no buffer has is kept.
const idleMemory = time.Minute

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

// collected is called after each collection. It lets go of a memory that was not used for
// idleMemory, and forgets one that no buffer has kept.
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

// FreeHeld gives back all memory that the pools hold which [New], [NewPinned] and
// [NewPool] draw on, of every device and of the host: what freed buffers have left for
// the next ones. It does not touch buffers that are out, nor those that a [Pool] keeps:
// see [Pool.Clear]. What streams still use stays until a later call.
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
