package percpu

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/sizeclass"
)

// A store is a strategy that keeps nothing, with slots for its blocks.
type store struct {
	dev   device.Device
	table handle.Table
	Cache

	mu      sync.Mutex // of the table, too, and of what the Cache counts
	made    int        // blocks
	taken   int64      // bytes of those that were not freed
	freed   int
	panicAt int // this call of free panics, when the block is free
}

func openStore(t *testing.T, o Options) *store {
	findNumbers()
	d, err := device.Open("heap")
	if err != nil {
		t.Fatal(err)
	}
	s := &store{dev: d}
	s.table.Open(unsafe.Pointer(s), handle.Options{
		Lock:           &s.mu,
		WatchCollected: true,
		Forgotten:      func(handle.Entry, bool) bool { return false }, // left over at the end of a test
		Free:           func([]handle.Allocation) {},
	})
	if o.Processors == 0 {
		o.Processors = pin.Numbers()
	}
	if o.Divisor == 0 { // all of the budget is for the asking
		o.Divisor, o.Managed = 1, func() int64 { return math.MaxInt64 }
	}
	o.Grid, o.Free, o.Lock = *sizeclass.NewGrid(4, 0), s.free, &s.mu
	s.Open(o)
	return s
}

// findNumbers has the portable build find the numbers of processors again that collections
// have lost: without one a call caches nothing, and another collection tells.
func findNumbers() {
	for range 10 {
		p := pin.Pin()
		id := p.ID()
		if pin.Unpin(p); id < pin.Numbers() || !pin.Exclusive {
			return
		}
		runtime.GC()
	}
}

func (s *store) free(e handle.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken -= int64(e.Slot.Len())
	b, _ := s.table.Detach(e.Slot)
	s.dev.Free(b)
	runtime.KeepAlive(e.Mem)
	if s.freed++; s.freed == s.panicAt {
		panic("told to")
	}
}

// pop is a hit as Pool.Get has it.
func (c *ClassCache) pop(size int) (e handle.Entry) {
	if c.Enter() {
		if at := c.Top(); at.Slot.Len() >= size {
			e = c.Take(at, size)
		}
	}
	c.Leave()
	return e
}

// get is what a pool does, without handles.
func (s *store) get(t *testing.T, size int) handle.Entry {
	class := s.Class(size)
	on := s.Pin()
	e := s.At(on.ID(), class).pop(size)
	if e.Slot == nil {
		e, _ = s.Retry(on.ID(), class, size)
	}
	s.Unpin(on)
	if e.Slot == nil {
		e, _ = s.Refill(class, size)
	}
	if e.Slot == nil {
		_, ask := s.Fit(size)
		b, err := s.dev.Alloc(ask)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		e, _ = s.table.Attach(b, 0, class, true)
		s.made++
		s.taken += int64(e.Slot.Len())
		s.CountGet(size)
		s.Missed(class)
	}
	return e
}

func (s *store) release(e handle.Entry, size int) {
	e.Slot.End(e.Slot.Generation()) // as its owner does
	on := s.Pin()
	kept := s.At(on.ID(), e.Slot.Class()).Push(e, size)
	s.Unpin(on)
	if !kept && !s.Keep(e, size) {
		s.mu.Lock()
		s.CountRelease(size)
		s.Refused(e.Slot.Class(), 1)
		s.mu.Unlock()
		s.free(e)
	}
}

// granted returns what the processor with the most may hold.
func (s *store) granted() (most int64) {
	for i := range s.cpus {
		most = max(most, s.cpus[i].granted)
	}
	return most
}

// A processor holds no more than its budget, whatever it is asked for, and the depot
// no more than its own.
func TestBudgets(t *testing.T) {
	for _, o := range []Options{
		{Largest: 32 << 10, Bytes: 100_000, Depot: 50_000},
		{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20, Divisor: 16, Managed: func() int64 { return 8 << 20 }},
	} {
		s := openStore(t, o)
		limit := s.options.budget(o.Bytes).most
		r := rand.New(rand.NewPCG(7, 7))
		var live []handle.Entry
		var sizes []int
		var cached int64
		for range 5000 {
			n := 1 + r.IntN(20_000)
			live, sizes = append(live, s.get(t, n)), append(sizes, n)
			if len(live) > 40+r.IntN(80) {
				for len(live) > 40 {
					s.release(live[0], sizes[0])
					live, sizes = live[1:], sizes[1:]
				}
			}
			if most := s.granted(); most > limit {
				t.Fatalf("%d bytes granted of %d", most, limit)
			}
			if n := s.depot.bytes.Load(); n > o.Depot {
				t.Fatalf("%d bytes in the depot", n)
			}
			cached = max(cached, s.Usage().Bytes)
		}
		if cached == 0 {
			t.Error("nothing was cached")
		}
	}
}

// A block that is shorter than its class serves what fits, and is in the figures as long
// as it is.
func TestExactBlocks(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20, ExactAbove: 256})
	for _, c := range []struct{ size, ask int }{{100, 128}, {256, 256}, {257, 257}, {30_001, 30_001}, {40_000, 40_000}} {
		if _, ask := s.Fit(c.size); ask != c.ask {
			t.Errorf("%d bytes asked for %d, want %d", ask, c.size, c.ask)
		}
	}
	long, short := s.get(t, 1020), s.get(t, 1000)
	s.release(long, 1020)
	s.release(short, 1000)
	if u := s.Usage(); u.Bytes != 2020 || long.Slot.Class() != short.Slot.Class() {
		t.Errorf("%+v", u)
	}
	if e := s.get(t, 990); e != short {
		t.Errorf("a block of %d bytes for 990, one of 1000 was there", e.Slot.Len())
	}
}

// A block that is too short for a Get goes back, or it would be in the way of the next one,
// too. Then blocks are as long as their class. While all ask for the same they are not.
func TestShortBlocksGoBack(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20, ExactAbove: 256})
	for range 10 {
		s.release(s.get(t, 1000), 1000)
	}
	if _, ask := s.Fit(1000); ask != 1000 || s.freed != 0 {
		t.Errorf("%d bytes asked for 1000, %d blocks went back", ask, s.freed)
	}
	if e := s.get(t, 1010); e.Slot.Len() != 1024 || s.freed != 1 {
		t.Errorf("a block of %d bytes for 1010, %d went back", e.Slot.Len(), s.freed)
	}
	if _, ask := s.Fit(2000); ask != 2000 {
		t.Errorf("another class asks %d bytes for 2000", ask)
	}
	if u := s.Usage(); u.Blocks != 0 || u.Bytes != 0 {
		t.Errorf("%+v", u)
	}
	s.checkMagazines()
}

// A magazine of the depot may have a block on top that is too short.
func TestARefillIsLongEnough(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20, ExactAbove: 256})
	e := s.get(t, 1000)
	m := &magazine{n: 1, class: int32(e.Slot.Class())}
	m.entries[0] = e
	s.depot.put(m, 1024, 1<<20)
	if got, _ := s.Refill(e.Slot.Class(), 1010); got.Slot != nil {
		t.Errorf("a block of %d bytes for 1010", got.Slot.Len())
	}
	if got := s.get(t, 1000); got != e {
		t.Error("the block is gone")
	}
}

// The counters add up when no call runs: what was got and not released is out.
func TestCountersAddUp(t *testing.T) {
	s := openStore(t, Options{Largest: 32 << 10, Bytes: 200_000, Depot: 100_000})
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			var live [16]handle.Entry
			var sizes [16]int
			for i := range 5_000 {
				at := r.IntN(len(live))
				if live[at].Slot != nil {
					s.release(live[at], sizes[at])
				}
				sizes[at] = 1 + r.IntN(30_000)
				live[at] = s.get(t, sizes[at])
				if i%100 == 0 {
					runtime.Gosched()
				}
			}
			for at, e := range live {
				if e.Slot != nil {
					s.release(e, sizes[at])
				}
			}
		})
	}
	all.Wait()
	u := s.Usage()
	if u.Gets() != 20_000 || u.Releases != u.Gets() || u.Got == 0 || u.Released != u.Got {
		t.Errorf("%+v", u)
	}
	blocks := u.Blocks
	s.Reclaim(false)
	if before := s.freed; int64(before) < blocks {
		t.Errorf("%d blocks were cached, %d freed", blocks, before)
	}
	if u := s.Usage(); u.Blocks != 0 || u.Bytes != 0 || u.Gets() != 20_000 || u.Releases != u.Gets() {
		t.Errorf("after Reclaim: %+v", u)
	}
}

// An idle Reclaim takes what was not touched since the last one, and nothing else.
func TestIdleReclaimTakesWhatIsUntouched(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	pair := func(size int) { s.release(s.get(t, size), size) }
	pair(100)
	pair(5_000)
	s.Reclaim(true) // marks
	pair(100)
	s.Reclaim(true)
	if u := s.Usage(); u.Blocks != 1 || u.Bytes != s.BlockBytes(s.Class(100)) {
		t.Errorf("%+v", u)
	}
	s.Reclaim(true) // untouched since the last one, which took some and marked the rest
	if u := s.Usage(); u.Blocks != 0 {
		t.Errorf("%+v stay", u)
	}
}

// After Stop nothing is kept.
func TestStop(t *testing.T) {
	s := openStore(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	e := s.get(t, 100)
	s.Stop()
	s.Reclaim(false)
	s.release(e, 100)
	if u := s.Usage(); u.Blocks != 0 || s.freed != 1 {
		t.Errorf("%+v, %d freed", u, s.freed)
	}
}

// If the strategy panics as it takes a block, all others are in the caches still: in a
// reclaim, and as the depot has no room.
func TestAPanicOfTheStrategyLosesNoBlock(t *testing.T) {
	for _, depot := range []int64{0, 1 << 20} {
		for at := 1; ; at++ {
			s := openStore(t, Options{Largest: 32 << 10, Bytes: 20_000, Depot: depot})
			s.panicAt = at
			try := func(f func()) {
				defer func() {
					if r := recover(); r != nil && r != "told to" {
						panic(r)
					}
				}()
				f()
			}
			var live []handle.Entry
			for range 60 {
				live = append(live, s.get(t, 1000))
			}
			for _, e := range live {
				try(func() { s.release(e, 1000) })
			}
			s.wants.earned[s.Class(4000)].Store(1) // so it takes the room of the others
			e := s.get(t, 4000)
			try(func() { s.release(e, 4000) })
			live = append(live, e)
			try(func() { s.Reclaim(false) })
			s.Reclaim(false)
			if s.freed != len(live) || s.Usage().Blocks != 0 {
				t.Fatalf("%d blocks freed of %d, %+v, with a panic at %d", s.freed, len(live), s.Usage(), at)
			}
			if at == len(live) {
				break
			}
		}
	}
}

// Each class cache has a cache line to itself.
func TestClassCachesFillLines(t *testing.T) {
	if n := unsafe.Sizeof(ClassCache{}); n != lineBytes {
		t.Errorf("a class cache has %d bytes", n)
	}
	for _, largest := range []int{1 << 10, 32 << 20} {
		s := openStore(t, Options{Largest: largest, Bytes: 1 << 20})
		if at := uintptr(unsafe.Pointer(&s.caches[0])); at%lineBytes != 0 {
			t.Errorf("up to %d bytes: the class caches begin at %x", largest, at)
		}
	}
}

// Keep keeps what its class cache has room for, and never what no class is for: beyond the
// last class cache of a processor stands the first one of the next.
func TestKeepKnowsWhatIsNotCached(t *testing.T) {
	s := openStore(t, Options{Largest: 1 << 10, Bytes: 1 << 20, Depot: 1 << 20, Processors: 64})
	for i := range s.caches {
		s.caches[i].loaded = &magazine{}
		s.caches[i].limit.Store(1)
	}
	for size, want := range map[int]bool{1000: true, 5000: false} {
		b, err := s.dev.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		class := s.classes
		if s.Caches(size) {
			class = s.Class(size)
		}
		s.mu.Lock()
		e, _ := s.table.Attach(b, 0, class, false)
		s.mu.Unlock()
		if kept := s.Keep(e, size); kept != want {
			t.Errorf("a block of %d bytes: kept %v", size, kept)
		}
	}
}

// The number of a processor is that of its caches, whatever the numbers are that tell pinned goroutines apart.
func TestTheProcessorHasCaches(t *testing.T) {
	s := oneCPU(t, Options{})
	for range 1000 {
		if n := s.Processor(); n != 0 {
			t.Fatalf("processor %d of 1", n)
		}
	}
}
