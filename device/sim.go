package device

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Sim is a simulated accelerator. Its memory has addresses of its own, which
// the CPU cannot reach: bytes move by Copy alone, as on the real thing. Its
// capacity is exact, its faults come when they are called for (see
// [Sim.FailAlloc]), it counts what happens, its streams can work late (see
// [Sim.Late]) and take time by a clock of their own (see [Sim.Costs]): every
// path of a program that uses a device can be tested without one. Regions are
// exactly as large as asked and their fresh contents are 0xDB.
//
// A Sim is safe for concurrent use; one lock makes the order of its calls,
// and with it the n-th, well defined. It must not be copied.
type Sim struct {
	common
	room   budget
	mu     sync.Mutex // of all below and of the memory of all regions
	next   uint64     // address of the next region
	faults faults
	stats  SimStats
	pinned simPinned

	now     time.Duration // see sim_clock.go
	costs   SimCosts
	late    *rand.Rand          // nil: work is not late
	engines [engines][]interval // sorted
	queue   simQueue
	numbers uint64
}

// NewSim returns a simulated device of capacity bytes. Its name opens another
// one like it. Negative is 0: a device that is always full.
func NewSim(capacity int64) *Sim {
	capacity = max(capacity, 0)
	return newSim(fmt.Sprintf("sim:%d", capacity), capacity)
}

func newSim(name string, capacity int64) *Sim {
	s := &Sim{common: common{name: name}, room: budget{capacity: capacity}, next: simBase}
	s.pinned = simPinned{common: common{name: name + pinnedSuffix}, sim: s}
	return s
}

// openSim takes a capacity, late and a seed, or both with a colon between.
func openSim(rest string) (Device, error) {
	if rest == "" {
		return newSim("sim", simCapacity), nil
	}
	size, seed, late := strings.Cut(":"+rest, ":late=")
	d := newSim("sim:"+rest, simCapacity)
	if late {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			return nil, badRest("sim", rest, "a capacity and late=SEED, an integer")
		}
		d.Late(n)
	}
	if size != "" {
		n, err := ParseSize(size[1:])
		if err != nil {
			return nil, fmt.Errorf("device: sim cannot use %q, only a capacity and late=SEED: %w", rest, err)
		}
		d.room.capacity = n
	}
	return d, nil
}

// simCapacity is that of a sim whose name does not say.
const simCapacity = 1 << 30

// Alloc gives every region an address of its own, never used before.
func (s *Sim) Alloc(size int) (Block, error) {
	if err := s.checkAlloc(size); err != nil || size == 0 {
		return Block{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	s.stats.AllocCalls++
	if err := s.faults.strike(callAlloc); err != nil {
		return Block{}, fmt.Errorf("device: alloc of %d bytes on %s, call %d: %w", size, s.name, s.stats.AllocCalls, err)
	}
	if !s.room.take(int64(size)) {
		return Block{}, fmt.Errorf("device: %s of %d bytes has %d left, %d asked: %w",
			s.name, s.room.capacity, s.room.free(), size, ErrOutOfMemory)
	}
	s.stats.ActiveBlocks++
	s.stats.ActiveBytes += int64(size)
	s.stats.PeakBytes = max(s.stats.PeakBytes, s.stats.ActiveBytes)
	r := &SimRegion{dev: s, addr: s.next, size: size}
	s.next += uint64(size)/simAlign*simAlign + 2*simAlign // a gap: neighbours never touch
	return Block{Region: r, Len: size}, nil
}

// Free works on a lost and on a closed device too, and is no call that
// [Sim.Lose] counts: what a program holds it can always give back.
func (s *Sim) Free(b Block) {
	if b == (Block{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	r, ok := b.Region.(*SimRegion)
	if !ok || r.dev != s || b.Off != 0 || b.Len != r.size || r.gone {
		s.badFree(b)
	}
	r.gone, r.pages = true, nil
	s.stats.FreeCalls++
	s.stats.ActiveBlocks--
	s.stats.ActiveBytes -= int64(r.size)
	s.room.give(int64(r.size))
}

// MemInfo counts exactly what was asked for.
func (s *Sim) MemInfo() (free, total int64, err error) {
	if err := s.strike(callOther); err != nil {
		return 0, 0, err
	}
	return s.room.free(), s.room.capacity, nil
}

// Close does what is enqueued, and closes the pinned memory too.
func (s *Sim) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	s.pinned.closed.Store(true)
	return s.common.Close()
}

// strike is for calls that fail only with the device itself.
func (s *Sim) strike(c call) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	if err := s.faults.strike(c); err != nil {
		return fmt.Errorf("device: %s: %w", s.name, err)
	}
	return nil
}

// SimStats are the counters of a [Sim]. Calls count whether or not they
// succeed, copies and bytes only where they moved. Work of streams is included.
type SimStats struct {
	AllocCalls, FreeCalls, CopyCalls, FillCalls, LaunchCalls int64

	ToDeviceCopies, ToHostCopies, WithinCopies int64 // by direction
	ToDeviceBytes, ToHostBytes, WithinBytes    int64
	FillBytes                                  int64

	UsedAfterFree int64 // pieces of work that came to their memory when it was freed

	ActiveBlocks, ActiveBytes int64 // not yet freed
	PeakBytes                 int64 // most ActiveBytes there ever were
	PinnedBlocks, PinnedBytes int64 // page-locked and not yet freed
}

// Stats returns the counters, all of one moment.
func (s *Sim) Stats() SimStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}
