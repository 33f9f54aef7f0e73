package slab

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A result is what a call of GetContext has returned.
type result struct {
	b   PooledBuffer
	err error
}

// getLater calls GetContext on a goroutine, and returns when that waits.
func getLater(t testing.TB, ctx context.Context, p *Pool, size int) <-chan result {
	t.Helper()
	n := p.Stats().Waits
	c := make(chan result, 1)
	go func() {
		b, err := p.GetContext(ctx, size)
		c <- result{b, err}
	}()
	eventually(t, "the call waits", func() bool { return p.Stats().Waits > n || len(c) > 0 })
	letOthersRun() // it has joined a queue, or is about to: let it go to sleep
	return c
}

// getInBubble calls GetContext on a goroutine, and returns when that sleeps.
func getInBubble(t testing.TB, p *Pool, size int) <-chan result {
	t.Helper()
	n := p.Stats().Waits
	c := make(chan result, 1)
	go func() {
		b, err := p.GetContext(t.Context(), size)
		c <- result{b, err}
	}()
	if synctest.Wait(); p.Stats().Waits == n || len(c) > 0 {
		t.Fatal("the call does not wait")
	}
	return c
}

// letOthersRun lets all goroutines go on until they wait. There is one processor for that: a
// goroutine on another might not have a turn, whatever we do.
func letOthersRun() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 1000 {
		runtime.Gosched()
	}
}

// mustHave returns the buffer of a call that has to succeed now.
func mustHave(t testing.TB, c <-chan result) PooledBuffer {
	t.Helper()
	select {
	case r := <-c:
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.b
	case <-time.After(30 * time.Second):
		t.Fatal("nobody has woken the one that waits")
		return PooledBuffer{}
	}
}

// checkNobodyWaits checks that waits have left nothing: no waiter, and caches that work.
func checkNobodyWaits(t testing.TB, pools ...*Pool) {
	t.Helper()
	for _, p := range pools {
		eventually(t, "the last one has left", func() bool { return p.Stats().Waiters == 0 && p.pool.waits.hurried.Load() == 0 })
		for _, b := range p.pool.budgets {
			if n := b.Queue.Len(); n != 0 {
				t.Errorf("%d are in a queue", n)
			}
		}
		checkQuiet(t, p)
	}
}

// waitingOn are the ways in which a pool of 1 MiB can be out of memory.
var waitingOn = map[string]func(t *testing.T) (Allocator, Config){
	"max_bytes": func(t *testing.T) (Allocator, Config) {
		return openDevice(t, "mmap"), Config{Device: "mmap", MaxBytes: 1 << 20}
	},
	"a limit": func(t *testing.T) (Allocator, Config) {
		return NewLimit(openDevice(t, "mmap"), 1<<20), Config{Device: "mmap"}
	},
	"a device": func(t *testing.T) (Allocator, Config) { return sim.New(1 << 20), Config{} },
	"an allocator": func(t *testing.T) (Allocator, Config) {
		return &source{Capacity: 1 << 20}, Config{}
	},
	"a child": func(t *testing.T) (Allocator, Config) {
		l, err := NewLimit(openDevice(t, "mmap"), 1<<20).Within(1<<20, 300<<10)
		if err != nil {
			t.Fatal(err)
		}
		return l, Config{Device: "mmap"}
	},
}

// strategiesWhere returns all strategies for one of the places that can refuse, and two for the others: what
// refuses, and where a block would have gone, do not depend on each other.
func strategiesWhere(all bool) []string {
	if all {
		return Strategies()
	}
	return []string{"exact", "slab"}
}

func eachWaiting(t *testing.T, f func(t *testing.T, p *Pool)) {
	for name, on := range waitingOn {
		for _, s := range strategiesWhere(name == "a limit") {
			t.Run(name+","+s, func(t *testing.T) {
				a, c := on(t)
				c.Strategy = s
				p := mustOpen(t, a, c)
				f(t, p)
				checkNobodyWaits(t, p)
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A Release wakes the one that waits, whatever refused, and wherever the block would have
// gone.
func TestReleaseWakes(t *testing.T) {
	eachWaiting(t, func(t *testing.T, p *Pool) {
		for _, size := range []int{1000 << 10, 700 << 10, 520 << 10} {
			b := mustGet(t, p, size)
			c := getLater(t, t.Context(), p, 600<<10)
			if s := p.Stats(); s.Waiters != 1 {
				t.Errorf("%d wait", s.Waiters)
			}
			mustRelease(t, b)
			mustRelease(t, mustHave(t, c))
		}
	})
}

// Small blocks come back by the caches of processors when nobody waits.
func TestSmallReleasesWakeALargeWaiter(t *testing.T) {
	eachWaiting(t, func(t *testing.T, p *Pool) {
		var small []PooledBuffer
		for {
			b, err := p.Get(4 << 10)
			if err != nil {
				break
			}
			small = append(small, b)
		}
		for i := range len(small) / 2 { // into caches
			mustRelease(t, small[i])
		}
		small = small[len(small)/2:]
		c := getLater(t, t.Context(), p, 900<<10)
		releaseAll(t, small)
		mustRelease(t, mustHave(t, c))
	})
}

// Where there is room GetContext is Get.
func TestGetContextOfWhatThereIs(t *testing.T) {
	eachWaiting(t, func(t *testing.T, p *Pool) {
		for _, size := range []int{0, 1, 4 << 10, 4 << 10, 300 << 10} {
			b, err := p.GetContext(t.Context(), size)
			if err != nil || b.Len() != size {
				t.Fatal(err)
			}
			mustRelease(t, b)
		}
		var never context.Context
		b, err := p.GetContext(never, 100)
		if err != nil {
			t.Fatal(err)
		}
		mustRelease(t, b)
		if s := p.Stats(); s.Waits != 0 || s.WaitTime != 0 {
			t.Errorf("%+v", s)
		}
	})
}

var errCause = errors.New("no longer wanted")

// A context that is done ends the wait, says why, and what was missing.
func TestADoneContextEndsTheWait(t *testing.T) {
	eachWaiting(t, func(t *testing.T, p *Pool) {
		b := mustGet(t, p, 1000<<10)
		ctx, cancel := context.WithCancelCause(t.Context())
		c := getLater(t, ctx, p, 500<<10)
		cancel(errCause)
		after, err := p.GetContext(ctx, 500<<10)
		if after != (PooledBuffer{}) {
			t.Error("a buffer with an error")
		}
		for i, err := range []error{(<-c).err, err} {
			var w *WaitError
			if !errors.As(err, &w) || w.Size != 500<<10 || w.Waited > 0 != (i == 0) {
				t.Errorf("%#v", err)
			}
			for _, want := range []error{context.Canceled, errCause, device.ErrOutOfMemory} {
				if !errors.Is(err, want) {
					t.Errorf("%v does not wrap %v", err, want)
				}
			}
		}
		mustRelease(t, b)
		if b, err = p.GetContext(ctx, 500<<10); !errors.Is(err, errCause) || errors.Is(err, device.ErrOutOfMemory) || b != (PooledBuffer{}) {
			t.Errorf("with room: %v", err)
		}
		checkNoneOut(t, p)
	})
}

// What cannot be fails at once, as Get does, and 0 bytes are there whatever ctx says.
func TestGetContextFailsAtOnce(t *testing.T) {
	eachWaiting(t, func(t *testing.T, p *Pool) {
		over, end := context.WithCancel(t.Context())
		end()
		if _, err := p.GetContext(over, 0); err != nil {
			t.Error(err)
		}
		b := mustGet(t, p, 10)
		for _, size := range []int{-1, maxInt} {
			if _, err := p.GetContext(t.Context(), size); !errors.Is(err, device.ErrSize) && !errors.Is(err, device.ErrOutOfMemory) {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
		mustRelease(t, b)
		_, err := p.GetContext(t.Context(), 2<<20)
		var none *OutOfMemoryError
		if !errors.As(err, &none) || none.Size != 2<<20 {
			t.Error(err)
		}
	})
}

// A request that a Limit allows, and that its pool cannot serve, fails when all is back:
// so it keeps nobody behind it from memory.
func TestWhatNeverFitsFailsWhenAllIsBack(t *testing.T) {
	p := openPool(t, "mmap", Config{MaxBytes: 1 << 20, Check: true})
	b := mustGet(t, p, 500<<10)
	never := getLater(t, t.Context(), p, 1<<20) // beside canaries
	behind := getLater(t, t.Context(), p, 900<<10)
	mustRelease(t, b)
	var none *OutOfMemoryError
	if r := <-never; !errors.As(r.err, &none) {
		t.Error(r.err)
	}
	mustRelease(t, mustHave(t, behind))
	checkNobodyWaits(t, p)
	if n := p.Stats().Failed; n != 1 {
		t.Errorf("%d Gets have failed", n)
	}
}

func TestCloseEndsWaits(t *testing.T) {
	eachWaiting(t, func(t *testing.T, p *Pool) {
		b := mustGet(t, p, 1000<<10)
		var calls []<-chan result
		for range 3 {
			calls = append(calls, getLater(t, t.Context(), p, 500<<10))
		}
		var leak *LeakError
		if err := p.Close(); !errors.As(err, &leak) {
			t.Error(err)
		}
		for _, c := range calls {
			if r := <-c; !errors.Is(r.err, ErrClosed) {
				t.Error(r.err)
			}
		}
		if _, err := p.GetContext(t.Context(), 1); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		mustRelease(t, b)
		checkNothing(t, p)
	})
}

// Pools that share a Limit or a device wake each other: by a Release, and by what was held
// when the wait began.
func TestPoolsThatShareWakeEachOther(t *testing.T) {
	for name, on := range map[string]Allocator{"limit": NewLimit(openDevice(t, "mmap"), 1<<20), "device": sim.New(1 << 20)} {
		for _, s := range Strategies() {
			t.Run(name+","+s, func(t *testing.T) {
				c := Config{Strategy: s}
				one, two := mustOpen(t, on, c), mustOpen(t, on, Config{MaxBytes: 1 << 20})
				a, b := mustGet(t, one, 500<<10), mustGet(t, one, 200<<10)
				mustRelease(t, mustGet(t, one, 4<<10))
				wait := getLater(t, t.Context(), two, 600<<10)
				three := mustOpen(t, on, c) // it has to hurry, too
				mustRelease(t, b)
				mustRelease(t, mustGet(t, three, 100<<10))
				if len(wait) != 0 {
					t.Fatal("there was no room")
				}
				mustRelease(t, a)
				mustRelease(t, mustHave(t, wait))
				checkNobodyWaits(t, one, two, three)
				for _, p := range []*Pool{one, two, three} {
					if err := p.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// A pool that was closed has buffers out: their Release makes room for others.
func TestReleaseToAClosedPoolWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sim.New(1 << 20)
		one := mustOpen(t, d, Config{})
		b := mustGet(t, one, 500<<10)
		one.Close()
		two := mustOpen(t, d, Config{}) // the device has other sharers now
		other := mustGet(t, two, 100<<10)
		c := getLater(t, t.Context(), two, 600<<10)
		synctest.Wait()
		mustRelease(t, b)
		mustRelease(t, mustHave(t, c))
		mustRelease(t, other)
		checkNobodyWaits(t, two)
		if err := two.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Who keeps buffers of the pool is asked for them.
func TestAWaiterHasWhatKeepersOffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPool(t, "mmap", Config{MaxBytes: 1 << 20})
		k := &lateKeeper{}
		p.AddReclaimer(k)
		b := mustGet(t, p, 600<<10)
		c := getLater(t, t.Context(), p, 600<<10)
		synctest.Wait() // it has asked k for the last time
		k.keep(b)
		p.Offer()
		mustRelease(t, mustHave(t, c))
		p.RemoveReclaimer(k)
		checkNobodyWaits(t, p)
	})
}

// A lateKeeper gets what it keeps while it is asked.
type lateKeeper struct {
	mu   sync.Mutex
	kept []PooledBuffer
}

func (k *lateKeeper) keep(b PooledBuffer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, b)
}

func (k *lateKeeper) FreeHeld() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range k.kept {
		b.Release()
	}
	k.kept = nil
}

// Memory that a stream uses comes when the stream is done, and a context ends the wait for
// one that is not.
func TestAWaiterDoesNotWaitForAStream(t *testing.T) {
	streamPools(t, 5, Config{}, func(t *testing.T, p *Pool, d *sim.Device) {
		on := &gate{open: make(chan struct{})}
		b := used(t, mustGet(t, p, 4*streamSize), on)
		mustRelease(t, b)
		plain := make(chan result)
		go func() { // and a Get that waits for the stream is not in the way
			b, err := p.Get(2 * streamSize)
			plain <- result{b, err}
		}()
		eventually(t, "Get waits for the stream", func() bool { return on.syncs.Load() > 0 })
		ctx, cancel := context.WithCancel(t.Context())
		c := getLater(t, ctx, p, 2*streamSize)
		cancel()
		if r := <-c; !errors.Is(r.err, context.Canceled) {
			t.Fatal(r.err)
		}
		c = getLater(t, t.Context(), p, 2*streamSize)
		close(on.open)
		if r := <-plain; r.err == nil { // or the other one has a block of twice the size
			mustRelease(t, r.b)
		}
		b = mustHave(t, c)
		c = getLater(t, t.Context(), p, 4*streamSize)
		on = &gate{open: make(chan struct{})}
		mustRelease(t, used(t, b, on)) // while somebody waits
		close(on.open)
		mustRelease(t, mustHave(t, c))
		checkNobodyWaits(t, p)
	})
}

// A gate is a stream that is done with all its work once it is open, and its own events.
type gate struct {
	device.Stream // nil: what no test needs
	open          chan struct{}
	syncs         atomic.Int64
}

func (g *gate) Record() (device.Event, error) { return g, nil }

func (g *gate) Sync() error {
	g.syncs.Add(1)
	<-g.open
	return nil
}

func (g *gate) Done() bool {
	select {
	case <-g.open:
		return true
	default:
		return false
	}
}

// A forgotten buffer makes room when the collector finds it.
func TestAForgottenBufferWakes(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "exact", MaxBytes: 1 << 20, GCTrigger: -1})
	forget := mustGet(t, p, 600<<10)
	c := getLater(t, t.Context(), p, 600<<10)
	runtime.KeepAlive(forget.slot)
	forget = PooledBuffer{}
	eventually(t, "the buffer is found forgotten", func() bool { cycle(); return len(c) > 0 })
	mustRelease(t, mustHave(t, c))
	checkNobodyWaits(t, p)
}

// Calls that wait get memory in the order in which they came, and no small one passes a large one.
func TestFirstComeFirstServed(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("there may be no 64 MiB of addresses in a row")
	}
	synctest.Test(t, func(t *testing.T) {
		p := mustOpen(t, NewLimit(openDevice(t, "mmap"), 64<<20), Config{Device: "mmap"})
		small := make([]PooledBuffer, 16)
		for i := range small {
			small[i] = mustGet(t, p, 4<<20)
		}
		var order []int // one at a time has what it wants, for a second
		var calls sync.WaitGroup
		ask := func(i, size int) {
			calls.Go(func() {
				b, err := p.GetContext(t.Context(), size)
				if err != nil {
					t.Error(err)
				}
				order = append(order, i)
				time.Sleep(time.Second)
				mustRelease(t, b)
			})
			synctest.Wait()
		}
		ask(0, 64<<20)
		mustRelease(t, small[0])
		ask(1, 4<<20) // there is room for this one, but the first one waits
		for i := 2; i < 6; i++ {
			ask(i, 61<<20)
		}
		ask(6, 4<<20)
		if len(order) > 0 {
			t.Fatalf("%v went first", order)
		}
		releaseAll(t, small[1:])
		calls.Wait()
		if !slices.Equal(order, []int{0, 1, 2, 3, 4, 5, 6}) {
			t.Errorf("%v", order)
		}
		checkNobodyWaits(t, p)
		if s := p.Stats(); s.Waits != 7 || s.WaitTime != (0+1+2+3+4+5+6)*time.Second {
			t.Errorf("%d waits, %v", s.Waits, s.WaitTime)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A large request beside goroutines that want small ones all the time is served.
func TestALargeWaiterBesideSmallOnes(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("there may be no 64 MiB of addresses in a row")
	}
	p := openPool(t, "mmap", Config{MaxBytes: 64 << 20})
	var stop atomic.Bool
	var all sync.WaitGroup
	defer all.Wait()
	defer stop.Store(true)
	for range 8 {
		all.Go(func() {
			for !stop.Load() { // it holds nothing while it waits, or the large request would wait for it
				b, err := p.GetContext(t.Context(), 4<<10)
				if err != nil {
					t.Error(err)
					return
				}
				runtime.Gosched()
				mustRelease(t, b)
			}
		})
	}
	for range 3 {
		b, err := p.GetContext(t.Context(), 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		mustRelease(t, b)
	}
}

// 64 goroutines on memory for a few: all go on, nobody is woken in vain for ever, and the
// budget holds.
func TestManyWaitForLittle(t *testing.T) {
	for _, s := range []string{"sizeclass", "bestfit", "slab", "exact"} {
		t.Run(s, func(t *testing.T) {
			l := NewLimit(openDevice(t, "mmap"), 8<<20)
			pools := []*Pool{mustOpen(t, l, Config{Strategy: s}), mustOpen(t, l, Config{Strategy: s})}
			var all sync.WaitGroup
			for g := range uint64(64) {
				all.Go(func() {
					r := rand.New(rand.NewPCG(g, 8))
					for range long(t, 10) {
						b, err := pools[g%2].GetContext(t.Context(), 1+r.IntN(2<<20))
						if err != nil {
							t.Error(err)
							return
						}
						b.Bytes()[0]++
						if r.IntN(8) == 0 {
							runtime.Gosched()
						}
						mustRelease(t, b)
					}
				})
			}
			all.Wait()
			checkNobodyWaits(t, pools...)
			for _, p := range pools {
				checkNoneOut(t, p)
				t.Logf("%d waits, %v", p.Stats().Waits, p.Stats().WaitTime)
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
			if l.InUse() != 0 {
				t.Errorf("%d bytes in use", l.InUse())
			}
		})
	}
}

// Waits that are cancelled leave nothing: no goroutine, no waiter, no memory.
func TestCancelledWaitsLeaveNothing(t *testing.T) {
	p := openPool(t, "mmap", Config{MaxBytes: 1 << 20})
	b := mustGet(t, p, 1<<20)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	first := getLater(t, t.Context(), p, 1<<20)
	// A call that finds its context done does not wait. So these are cancelled as they wait.
	before, goroutines := p.Stats(), runtime.NumGoroutine()
	n := long(t, 20_000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range n / 8 {
				if err := p.pool.wait(ended, attempt{size: 4 << 10}, p.pool.budgets[0], errQueued); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	s := p.Stats()
	if s.Waits-before.Waits != int64(n/8*8) || s.Waiters != 1 || s.ManagedBytes != before.ManagedBytes || p.pool.budgets[0].Queue.Len() != 1 {
		t.Errorf("%+v", s)
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
	mustRelease(t, b)
	mustRelease(t, mustHave(t, first))
	checkNobodyWaits(t, p)
}

// Pools below a parent: one that waits beyond its guarantee is woken by the other.
func TestPoolsWithGuaranteesWakeEachOther(t *testing.T) {
	root := NewLimit(openDevice(t, "mmap"), 1<<20)
	one := mustOpen(t, mustLimit(t, root, 900<<10, 200<<10), Config{})
	two := mustOpen(t, mustLimit(t, root, 1<<20, 100<<10), Config{})
	a, b := mustGet(t, one, 500<<10), mustGet(t, two, 300<<10)
	c := getLater(t, t.Context(), two, 300<<10)
	mustRelease(t, a) // 324 KiB beside what one is promised
	mustRelease(t, mustHave(t, c))
	mustRelease(t, b)
	if _, err := two.GetContext(t.Context(), 900<<10); !outOfMemory(err) { // beside what one is promised
		t.Error(err)
	}
	for l := range upstream.Layers(one.pool.upstream) {
		if l, ok := l.(*Limit); ok {
			l.EndGuarantee()
		}
	}
	mustRelease(t, mustHave(t, getLater(t, t.Context(), two, 900<<10)))
	checkNobodyWaits(t, one, two)
	for _, p := range []*Pool{one, two} {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if root.InUse() != 100<<10 {
		t.Errorf("%d in use", root.InUse())
	}
}

// What others than pools have of a Limit may come back, too: a request that needs it waits,
// though no pool has anything out.
func TestAWaiterHasWhatOthersHaveOfALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimit(&source{}, 1000)
		drawn := mustAlloc(t, l, 600)
		p := mustOpen(t, l, Config{Strategy: "exact"})
		c := getLater(t, t.Context(), p, 600)
		synctest.Wait()
		l.Free(drawn)
		mustRelease(t, mustHave(t, c))
		checkNobodyWaits(t, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Where another budget refuses by now, the one that waits is in its queue, and in no other.
func TestAWaiterIsInOneQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := NewLimit(&source{}, 1000)
		p := mustOpen(t, mustLimit(t, parent, 500, 0), Config{Strategy: "exact"})
		b := mustGet(t, p, 300)
		c := getLater(t, t.Context(), p, 400) // 100 too many for the child
		at := p.pool.budgets[1:]              // without its own bound
		want := func(child, above int) {
			t.Helper()
			if synctest.Wait(); at[0].Queue.Len() != child || at[1].Queue.Len() != above {
				t.Errorf("%d wait for the child, %d for its parent", at[0].Queue.Len(), at[1].Queue.Len())
			}
		}
		want(1, 0)
		drawn := mustAlloc(t, parent, 650)
		mustRelease(t, b) // and now 50 too many for the parent
		want(0, 1)
		parent.Free(drawn)
		mustRelease(t, mustHave(t, c))
		want(0, 0)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What the device could never have does not wait, and holds nobody up.
func TestARequestBeyondTheDeviceFailsAtOnce(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("an int has 32 bits: the machine has all that can be asked for")
	}
	for _, line := range []string{"device=sim:8MiB", "", "device=mmap"} {
		p := openLine(t, line)
		b := mustGet(t, p, 1000)
		if _, err := p.GetContext(t.Context(), maxAsk); !outOfMemory(err) || p.Stats().Waits != 0 {
			t.Errorf("%q: %v, %d waits", line, err, p.Stats().Waits)
		}
		mustRelease(t, b)
	}
}

// What was released before, and waits for a stream, is waited for on behalf of the one that
// waits for memory.
func TestAWaiterHasWhatStreamsGiveBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := mustOpen(t, sim.New(1<<20), Config{})
		q := &queue{}
		mustRelease(t, used(t, mustGet(t, p, 600<<10), q))
		c := getLater(t, t.Context(), p, 600<<10)
		mustRelease(t, mustHave(t, c))
		if q.Synced() != 1 {
			t.Errorf("%d waits for the stream", q.Synced())
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// One of all that the device has may get it.
func TestARequestOfTheWholeDeviceWaits(t *testing.T) {
	p := openLine(t, "device=sim:8MiB,strategy=direct")
	b := mustGet(t, p, 1000)
	c := getLater(t, t.Context(), p, 8<<20)
	mustRelease(t, b)
	mustRelease(t, mustHave(t, c))
}

// What makes room wakes the one that leads, at once. While it waits caches keep nothing.
func TestWhatMakesRoomWakes(t *testing.T) {
	p := openPool(t, "heap", Config{})
	limit := NewLimit(openDevice(t, "heap"), 1000)
	drawn := mustAlloc(t, limit, 1000)
	b := mustGet(t, p, 100)
	at := p.pool.budgets[0]
	for what, c := range map[string]struct {
		in   *budget.Budget
		room func()
	}{
		"a Release":          {at, func() { mustRelease(t, b) }},
		"a forgotten buffer": {at, func() { p.pool.freeForgotten(nil) }},
		"a Limit":            {&limit.budget, func() { limit.Free(drawn) }},
	} {
		w := budget.NewWaiter(p.pool.budgets)
		c.in.Join(w)
		c.room()
		select {
		case <-w.Woken:
		default:
			t.Errorf("%s does not wake", what)
		}
		if u := p.pool.cache.Usage(); u.Blocks != 0 {
			t.Errorf("%d blocks are cached while somebody waits", u.Blocks)
		}
		c.in.Leave(w)
	}
	if n := p.pool.waits.hurried.Load(); n != 0 {
		t.Errorf("the pool is hurried %d times when nobody waits", n)
	}
}

// What the device never has is told as Get tells it.
func TestGetContextBeyondTheDevice(t *testing.T) {
	told := 0
	p := mustOpen(t, sim.New(1<<20), Config{Hooks: &Hooks{OutOfMemory: func(*OutOfMemoryError) { told++ }}})
	if _, err := p.GetContext(t.Context(), 2<<20); !outOfMemory(err) || p.Stats().Failed != 1 || told != 1 {
		t.Errorf("%v, %d failed, told %d times", err, p.Stats().Failed, told)
	}
}
