package pin

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A section is what Barrier is for: one goroutine says with plain stores when it is
// inside, the other closes the door, has a barrier, and waits until it has left.
type section struct {
	inside uint32
	_      [60]byte
	closed atomic.Bool
	_      [60]byte
	a, b   int64 // equal, outside
	far    [1 << 22]uint32
}

// run goes in and out until stop.
func (s *section) run(stop *atomic.Bool) {
	for i := uint(0); !stop.Load(); i += 1<<14 + 16 {
		p := Pin()
		s.far[i%uint(len(s.far))] = 1 // not in the caches: what is stored after it stays unseen meanwhile
		s.inside = 1
		if !s.closed.Load() {
			s.a++
			for x := range 20 {
				_ = x
			}
			s.b++
		}
		s.inside = 0
		Unpin(p)
	}
}

// broken counts how often the other was inside behind closed doors.
func (s *section) broken(rounds int, barrier func() bool) (n int) {
	for range rounds {
		s.closed.Store(true)
		barrier()
		for atomic.LoadUint32(&s.inside) != 0 {
			runtime.Gosched()
		}
		barrier()
		a := atomic.LoadInt64(&s.a)
		for x := range 50 {
			_ = x
		}
		if atomic.LoadInt64(&s.b) != a {
			n++
		}
		s.closed.Store(false)
		for x := range 50 {
			_ = x
		}
	}
	return n
}

func trySection(t *testing.T, rounds int, barrier func() bool) int {
	t.Helper()
	if !Exclusive || !Barrier() {
		t.Skip("there is no barrier in this build or on this system")
	}
	if runtime.NumCPU() < 2 || runtime.GOMAXPROCS(0) < 2 {
		t.Skip("there is one processor")
	}
	s := new(section)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() { s.run(&stop) })
	defer wg.Wait()
	defer stop.Store(true)
	return s.broken(rounds, barrier)
}

func TestBarrierMakesPlainFlagsSafe(t *testing.T) {
	if n := trySection(t, 5_000, Barrier); n != 0 {
		t.Errorf("%d times the other was inside", n)
	}
}

// The control: the same without a barrier.
func TestPlainFlagsAloneAreNotSafe(t *testing.T) {
	for start := time.Now(); time.Since(start) < 5*time.Minute; {
		if trySection(t, 20_000, func() bool { return true }) > 0 {
			return
		}
	}
	t.Error("the control: the two never met, so the test above shows nothing")
}
