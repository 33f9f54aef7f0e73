package soak

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// Run lets four goroutines use pools of the named devices, of every strategy, two on one
// Limit. They get, fill, check, release and forget, and have streams work on what they
// release. The device has no room now and then, panics, and takes its time. The number of
// processors and the pace of the collector change, and held memory is given back, until
// somebody stops holding or closes the pools. Then all that was out comes back: no buffer
// was anybody else's, every figure is 0, and the process has the memory that it began
// with.
//
// With escape a tenth of the forgotten buffers off the Go heap had their bytes taken.
// Then the process keeps their addresses, and little more; and of devices that cannot take
// bytes out of use, memory.
// Without escape nothing is left.
//
// Run takes half of BUFSLAB_SOAK, so that a test that calls it with escape and without
// takes all of it. Unless that is set, it is short and each of the two has half of the pools.
// Where a device is not there t is skipped. No other test may run beside.
func Run(t *testing.T, escape bool, devices ...string) {
	t.Helper()
	if strconv.IntSize == 32 {
		t.Skip("a soak takes more addresses than there are")
	}
	length, steps := 50*time.Millisecond, 1_000
	wanted := os.Getenv("BUFSLAB_SOAK")
	long := wanted != ""
	if long {
		d, err := time.ParseDuration(wanted)
		if err != nil {
			t.Fatal(err)
		}
		length, steps = d/2, 20_000
	}
	defer settle()()
	s := &soak{t: t, escape: escape, devices: devices, counts: countsOf(anywhere),
		r: rand.New(rand.NewPCG(12, uint64(length)))}
	for _, name := range devices {
		keep, err := device.Open(name) // what devices of a name share is made once
		if errors.Is(err, device.ErrUnavailable) {
			t.Skipf("the device is not there: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer keep.Close()
		s.stacks = append(s.stacks, stacks(name)...)
	}
	if !long {
		s.stacks = everySecond(s.stacks, escape)
	}
	s.run(length, steps)
}

// everySecond returns half of all stacks, the other half with escape.
func everySecond(all []slab.Config, escape bool) (half []slab.Config) {
	for i, c := range all {
		if i%2 == 0 != escape {
			half = append(half, c)
		}
	}
	return half
}

// stacks are the configurations of a device.
func stacks(dev string) (list []slab.Config) {
	for _, strategy := range slab.Strategies() {
		list = append(list, slab.Config{Device: dev, Strategy: strategy, MaxBytes: 48 << 20})
	}
	return append(list, slab.Config{Device: dev, Check: true},
		slab.Config{Device: dev, TrimAfter: time.Millisecond, Idle: time.Millisecond},
		slab.Config{Device: dev, OnForget: "free"}, slab.Config{Device: dev, MaxHeld: 1 << 20})
}

// goHeap is more than the heap of a soak ever has. The Go runtime keeps the addresses of its
// heap, so it takes them before the first look. What it has had once it would clear.
const goHeap = 512 << 20

var takeGoHeap = sync.OnceFunc(func() { runtime.KeepAlive(make([]byte, goHeap)) })

func (s *soak) run(length time.Duration, steps int) {
	s.t.Helper()
	for _, c := range s.stacks {
		s.round(c, 100) // so that what the runtime and the driver take once is taken
	}
	s.spread()
	takeGoHeap()
	s.quarantined.Store(0)
	s.left.Store(0)
	before := footprintOf()
	for end := time.Now().Add(length); time.Now().Before(end) && !s.t.Failed(); {
		s.round(s.stacks[int(s.rounds.Load())%len(s.stacks)], steps)
	}
	after := footprintOf()
	if s.gets() <= s.refused.Load() {
		s.violation("all", "most Gets found no room")
	}
	s.compare(before, after)
	s.log(before, after)
}

func (s *soak) log(before, after footprint) {
	s.t.Logf("%d rounds, %d Gets, %d more without room or closed, %d forgotten, %d works of streams, "+
		"%d changes, %d pools closed early",
		s.rounds.Load(), s.gets(), s.refused.Load(), s.forgotten.Load(), s.works.Load(),
		s.changes.Load(), s.closed.Load())
	s.t.Logf("%d failures and %d panics of devices; %d violations",
		s.failures.Load(), s.panics.Load(), s.violations.Load())
	s.t.Logf("resident %d MiB, then %d; addresses %d MiB, then %d; %d KiB in quarantine, in pools that have %d MiB",
		before.resident>>20, after.resident>>20, before.addresses>>20, after.addresses>>20,
		s.quarantined.Load()>>10, s.left.Load()>>20)
}

// compare fails the test where the process has more than it began with.
func (s *soak) compare(before, after footprint) {
	if instrumented {
		return // its own memory grows
	}
	if left := s.left.Load(); after.resident > before.resident+left+64<<20 {
		s.violation("all", "memory did not come back")
	}
	if kept := 2*s.quarantined.Load() + s.left.Load(); after.addresses > before.addresses+kept+256<<20 {
		s.violation("all", "addresses did not come back")
	}
}
