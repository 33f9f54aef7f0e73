package slab

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// A stopping upstream stops one call of its owner's, before or after what it does.
type stopping struct {
	Allocator
	armed   atomic.Bool
	left    atomic.Int64 // places to pass until it stops
	stopped chan struct{}
	resume  chan struct{}
}

// stopAt has the n-th place from now on stop, from 0.
func (s *stopping) stopAt(n int) {
	s.stopped, s.resume = make(chan struct{}), make(chan struct{})
	s.left.Store(int64(n))
	s.armed.Store(true)
}

func (s *stopping) place() {
	if s.armed.Load() && s.left.Add(-1) == -1 {
		s.armed.Store(false)
		close(s.stopped)
		<-s.resume
	}
}

func (s *stopping) Alloc(size int) (device.Block, error) {
	s.place()
	defer s.place()
	return s.Allocator.Alloc(size)
}

func (s *stopping) Free(b device.Block) {
	s.place()
	defer s.place()
	s.Allocator.Free(b)
}

// besides are calls that have memory in hand for a moment. Each leaves nothing out that it
// does not return.
var besides = map[string]func(p *Pool, out PooledBuffer) (PooledBuffer, error){
	"a Get without room": func(p *Pool, _ PooledBuffer) (PooledBuffer, error) { return p.Get(5000) },
	"a Get":              func(p *Pool, _ PooledBuffer) (PooledBuffer, error) { return p.Get(80) },
	"a GetContext too late": func(p *Pool, _ PooledBuffer) (PooledBuffer, error) {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		return p.GetContext(ended, 5000)
	},
	"a Get and a Release": func(p *Pool, _ PooledBuffer) (none PooledBuffer, _ error) {
		b, err := p.Get(650)
		if err == nil {
			err = b.Release()
		}
		return none, err
	},
	"a Grow": func(p *Pool, out PooledBuffer) (PooledBuffer, error) {
		if out == (PooledBuffer{}) {
			return out, nil
		}
		_, err := out.Grow(5000)
		return PooledBuffer{}, err
	},
	"a Release":   func(_ *Pool, out PooledBuffer) (b PooledBuffer, _ error) { _ = out.Release(); return }, // of none, too
	"Trim":        func(p *Pool, _ PooledBuffer) (b PooledBuffer, _ error) { p.Trim(0); return },
	"FreeHeld":    func(p *Pool, _ PooledBuffer) (b PooledBuffer, _ error) { p.FreeHeld(); return },
	"StopHolding": func(p *Pool, _ PooledBuffer) (b PooledBuffer, _ error) { p.StopHolding(); return },
}

// A call that has memory in hand is in the way of the one that waits, wherever it is just now.
// When it is over, that one has what is left: it does not sleep, and it does not say that
// nothing will come back.
func TestAWaiterHasWhatAnotherCallGivesBack(t *testing.T) {
	for _, strategy := range Strategies() {
		for name, beside := range besides {
			for _, out := range []int{0, 300} {
				t.Run(fmt.Sprintf("%s,%s,%d out", strategy, name, out), func(t *testing.T) {
					if !newBeside(t, strategy, out).hasRoomAfter(t, beside) {
						t.Skip("that leaves no room")
					}
					for at := 0; newBeside(t, strategy, out).stopAt(t, at, beside); at++ {
					}
				})
			}
		}
	}
}

// A slowGiver is a device that stops its first call that gives memory, until resume.
type slowGiver struct {
	device.Device
	given           atomic.Bool
	stopped, resume chan struct{}
}

func (s *slowGiver) Alloc(size int) (device.Block, error) {
	b, err := s.Device.Alloc(size)
	if err == nil && s.given.CompareAndSwap(false, true) {
		close(s.stopped)
		<-s.resume
	}
	return b, err
}

// So is the memory of a Get that its device has given, and that nothing counts yet: no Limit knows of it.
func TestAWaiterHasWhatAGetIsAboutToHave(t *testing.T) {
	for _, strategy := range Strategies() {
		on := &slowGiver{Device: sim.New(1400), stopped: make(chan struct{}), resume: make(chan struct{})}
		p := mustOpen(t, on, Config{Strategy: strategy, GCTrigger: -1})
		other, waiting := make(chan result, 1), make(chan result, 1)
		go func() {
			b, err := p.Get(1000)
			other <- result{b, err}
		}()
		<-on.stopped
		go func() {
			b, err := p.GetContext(t.Context(), 800)
			waiting <- result{b, err}
		}()
		letOthersRun() // it waits
		close(on.resume)
		mustRelease(t, mustHave(t, other))
		mustRelease(t, mustHave(t, waiting))
		endBeside(t, p)
	}
}

// A waitingBeside has a call with memory in hand, and one that waits for a part of that.
type waitingBeside struct {
	on    *stopping
	pool  *Pool
	stays PooledBuffer
	size  int // that the other one wants: only with the largest of what is held there is room
}

func newBeside(t *testing.T, strategy string, out int) *waitingBeside {
	on := &stopping{Allocator: &source{Capacity: 1400, Host: true}}
	w := &waitingBeside{on: on, pool: mustOpen(t, on, Config{Strategy: strategy, GCTrigger: -1}), size: 800 - out}
	w.pool.pool.accounting.OnLeave(func(device.Block) { on.place() })
	if out > 0 {
		w.stays = mustGet(t, w.pool, out)
	}
	for _, size := range []int{700, 200, 100} {
		mustRelease(t, mustGet(t, w.pool, size))
	}
	return w
}

// hasRoomAfter reports whether there is room when the call is over that nothing stops.
func (w *waitingBeside) hasRoomAfter(t *testing.T, beside func(*Pool, PooledBuffer) (PooledBuffer, error)) bool {
	defer w.end(t)
	first, _ := beside(w.pool, w.stays)
	second, err := w.pool.Get(w.size)
	_, _ = first.Release(), second.Release() // either may be none
	return err == nil
}

// stopAt stops the call at a place. It reports false if there are not so many.
func (w *waitingBeside) stopAt(t *testing.T, at int, beside func(*Pool, PooledBuffer) (PooledBuffer, error)) bool {
	defer w.end(t)
	w.on.stopAt(at)
	other := make(chan result, 1)
	go func() {
		b, err := beside(w.pool, w.stays)
		other <- result{b, err}
	}()
	select {
	case <-w.on.stopped:
	case r := <-other:
		w.on.armed.Store(false)
		_ = r.b.Release() // nil if it has got one
		return false
	}
	waiting := make(chan result, 1)
	go func() {
		b, err := w.pool.GetContext(t.Context(), w.size)
		waiting <- result{b, err}
	}()
	letOthersRun() // it waits, or waits for a lock of the other call, or has ended
	close(w.on.resume)
	r := <-other
	mustRelease(t, mustHave(t, waiting))
	_ = r.b.Release()
	return true
}

func (w *waitingBeside) end(t *testing.T) {
	_ = w.stays.Release()
	endBeside(t, w.pool)
}

// Two queues have one that leads each. What one has in hand is in the way of the other, too.
func TestTriesOfTwoQueues(t *testing.T) {
	d := sim.New(1000 << 10)
	one, two := mustOpen(t, NewLimit(d, 900<<10), Config{Strategy: "exact"}), mustOpen(t, d, Config{Strategy: "exact"})
	stays, back := mustGet(t, one, 300<<10), mustGet(t, one, 200<<10)
	first := getLater(t, t.Context(), one, 650<<10) // at the Limit
	on := &stopping{}
	on.stopAt(0)
	one.pool.accounting.OnLeave(func(device.Block) { on.place() })
	mustRelease(t, back) // not enough for the first, which has it in hand now
	<-on.stopped
	second := getLater(t, t.Context(), two, 600<<10) // at the device
	close(on.resume)
	mustRelease(t, mustHave(t, second))
	mustRelease(t, stays)
	mustRelease(t, mustHave(t, first))
	endBeside(t, one, two)
}

// stopLeaving has the first block that leaves a pool stop before it goes upstream, while f
// runs on a goroutine. It returns how to let it go on until f is over.
func stopLeaving(p *Pool, f func()) (resume func()) {
	on := &stopping{}
	on.stopAt(0)
	p.pool.accounting.OnLeave(func(device.Block) { on.place() })
	over := make(chan struct{})
	go func() { f(); close(over) }()
	<-on.stopped
	return func() {
		letOthersRun() // who waits looks
		close(on.resume)
		<-over
	}
}

// A Trim that gives back too little has nobody sleep who waits for what will never be.
func TestAWaiterBesideATrim(t *testing.T) {
	p := mustOpen(t, &source{Capacity: 1000}, Config{Strategy: "exact"})
	b := mustGet(t, p, 300)
	c := getLater(t, t.Context(), p, 5000)
	end := p.pool.budgets[0].Lead() // the one that waits does not look yet
	mustRelease(t, b)
	resume := stopLeaving(p, func() { p.Trim(0) })
	end()
	resume()
	select {
	case r := <-c:
		if !outOfMemory(r.err) {
			t.Error(r.err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for what will never be")
	}
	endBeside(t, p)
}

// What a pool's upstream holds is the pool's.
func TestAWaiterHasWhatAStrategyBelowGivesBack(t *testing.T) {
	on := &stopping{Allocator: &source{Capacity: 1000}}
	below, err := NewStrategy("exact", on, Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustOpen(t, below, Config{Strategy: "direct", GCTrigger: -1})
	mustRelease(t, mustGet(t, p, 700))
	on.stopAt(0)
	stopped := make(chan struct{})
	go func() { p.StopHolding(); close(stopped) }()
	<-on.stopped
	c := make(chan result, 1)
	go func() {
		b, err := p.GetContext(t.Context(), 600)
		c <- result{b, err}
	}()
	letOthersRun()
	close(on.resume)
	<-stopped
	mustRelease(t, mustHave(t, c))
	endBeside(t, p)
}

// What a Guard withholds it gives back on the collector's goroutine.
func TestAWaiterHasWhatAGuardGivesBack(t *testing.T) {
	p := mustOpen(t, &cappedHeap{Device: openDevice(t, "heap"), left: 1000 << 10}, Config{Strategy: "exact", Guard: 1, GCTrigger: -1})
	b := mustGet(t, p, 700<<10)
	region := b.slot.Block(b.n).Region // Block has one of its own on the heap
	mustRelease(t, b)
	resume := stopLeaving(p, func() { p.pool.regionFound(region) })
	c := make(chan result, 1)
	go func() {
		b, err := p.GetContext(t.Context(), 600<<10)
		c <- result{b, err}
	}()
	resume()
	mustRelease(t, mustHave(t, c))
	endBeside(t, p)
}

// What comes back while one that waits looks for the last time is not missed.
func TestAWaiterThatIsWokenLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := mustOpen(t, &source{Capacity: 1000}, Config{Strategy: "exact"})
		var looks int
		p.AddReclaimer(&reclaimer{func() {
			if looks++; looks < 5 {
				p.pool.budgets[0].Queue.Wake()
			}
		}})
		_, err := p.GetContext(t.Context(), 5000)
		if !outOfMemory(err) || looks != 7 { // one was before it waits, then two in each turn
			t.Errorf("%v after %d looks", err, looks)
		}
		endBeside(t, p)
	})
}

type reclaimer struct{ f func() }

func (r *reclaimer) FreeHeld() { r.f() }

// A cappedHeap has so many bytes.
type cappedHeap struct {
	device.Device
	mu   sync.Mutex
	left int
}

func (d *cappedHeap) Alloc(size int) (device.Block, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if size > d.left {
		return device.Block{}, device.ErrOutOfMemory
	}
	d.left -= size
	return d.Device.Alloc(size)
}

func (d *cappedHeap) Free(b device.Block) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left += b.Len
	d.Device.Free(b)
}

func endBeside(t *testing.T, pools ...*Pool) {
	t.Helper()
	checkNobodyWaits(t, pools...)
	for _, p := range pools {
		checkNoneOut(t, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
