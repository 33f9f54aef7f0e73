package slab

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/waiters"
)

// Who has no room asks the others that draw on the same memory to give back what they
// hold: the pools on one device, the pools on one Limit, and whatever keeps buffers of
// a pool for reuse.

// A Reclaimer can give held memory back. A [Pool] shares its budget as one.
type Reclaimer interface{ FreeHeld() }

// A sharer is memory that several draw on.
type sharer interface {
	share(Reclaimer)
	unshare(Reclaimer)
}

// sharersOf returns what blocks of a are shared through, the nearest first, the device
// last: any of them may be what has no room.
func sharersOf(a Allocator) (list []sharer) {
	for l := range layers(a) {
		if s, ok := l.(sharer); ok {
			list = append(list, s)
		}
	}
	if d := deviceOf(a); d != nil && reflect.ValueOf(d).Comparable() {
		list = append(list, deviceSharers{d})
	}
	return list
}

// sharers are who hold memory of one source, and who wait for it. Their methods are those
// of a sharer.
type sharers struct {
	limit *Limit     // whose memory it is; nil of others
	mu    sync.Mutex // held while the caches of pools are stopped and started
	set   map[Reclaimer]struct{}
	queue waiters.Queue // joined and left under mu

	leading sync.Mutex // of the widest budget: held around a try of one that leads a queue; before reclaimMu
}

func (s *sharers) share(r Reclaimer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil {
		s.set = map[Reclaimer]struct{}{}
	}
	if _, in := s.set[r]; !in && s.queue.Len() > 0 {
		hurry(r)
	}
	s.set[r] = struct{}{}
}

// unshare reports whether no one is left.
func (s *sharers) unshare(r Reclaimer) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, in := s.set[r]; in && s.queue.Len() > 0 {
		relax(r)
	}
	delete(s.set, r)
	return len(s.set) == 0
}

// reclaim calls FreeHeld of all but one. It holds no lock meanwhile.
func (s *sharers) reclaim(except Reclaimer) {
	for _, r := range s.all() {
		if r != except {
			r.FreeHeld()
		}
	}
}

func (s *sharers) all() []Reclaimer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.set))
}

// onDevices has the pools of each device of the process.
var onDevices = struct {
	sync.Mutex // before sharers.mu
	of         map[device.Device]*sharers
}{of: map[device.Device]*sharers{}}

// deviceSharers are the pools of a device.
type deviceSharers struct{ dev device.Device }

func (d deviceSharers) share(r Reclaimer) {
	onDevices.Lock()
	defer onDevices.Unlock()
	s := onDevices.of[d.dev]
	if s == nil {
		s = &sharers{}
		onDevices.of[d.dev] = s
	}
	s.share(r)
}

func (d deviceSharers) unshare(r Reclaimer) {
	onDevices.Lock()
	defer onDevices.Unlock()
	if s := onDevices.of[d.dev]; s != nil && s.unshare(r) {
		delete(onDevices.of, d.dev)
	}
}

// sharers returns the pools of the device, nil if there are none.
func (d deviceSharers) sharers() *sharers {
	onDevices.Lock()
	defer onDevices.Unlock()
	return onDevices.of[d.dev]
}

// AddReclaimer says that r keeps buffers of the pool, active ones, for reuse. Its FreeHeld
// releases them. The pool calls it, without a lock, in a Get that has no room, and for
// others that share its Limit or its device; r must not wait there for a lock that is
// held around a Get. The pool keeps r alive until RemoveReclaimer.
func (p *Pool) AddReclaimer(r Reclaimer) { p.opened().reclaimers.share(r) }

// RemoveReclaimer undoes AddReclaimer.
func (p *Pool) RemoveReclaimer(r Reclaimer) { p.opened().reclaimers.unshare(r) }

// Offer is for who keeps buffers of the pool: one that was in use is not any more, and
// FreeHeld would release it. Those who wait for memory have it asked for then.
func (p *Pool) Offer() { p.opened().wake() }
