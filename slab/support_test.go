package slab

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/replaying"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// What the tests of this package share.

const (
	maxInt = math.MaxInt
	page   = upstreamtest.Page
)

type (
	source = upstreamtest.Source
	pages  = upstreamtest.Pages
	queue  = upstreamtest.Stream
)

func number(t testing.TB, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func openDevice(t testing.TB, name string) device.Device {
	t.Helper()
	d, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustOpen(t testing.TB, on Allocator, c Config) *Pool {
	t.Helper()
	p, err := Open(on, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func openPool(t testing.TB, dev string, c Config) *Pool {
	t.Helper()
	c.Device = dev
	p := mustOpen(t, openDevice(t, dev), c)
	t.Cleanup(func() { p.Close() }) // addresses are few where an int has 32 bits
	return p
}

// needRange skips a test whose figures are those of a range, where forgotten buffers of other tests keep the
// few addresses that ranges may have.
func needRange(t testing.TB, dev string) {
	t.Helper()
	if dev != "mmap" || maxInt>>40 != 0 {
		return
	}
	d := openDevice(t, dev)
	for range 10 {
		var ranges []device.Range // those of the test's pools
		for range 3 {
			if r, err := d.(device.Reserver).Reserve(64 << 20); err == nil {
				ranges = append(ranges, r)
			}
		}
		for _, r := range ranges {
			check.Must(t, r.Close())
		}
		if len(ranges) == 3 {
			return
		}
		cycle()
	}
	t.Skip("other tests keep the addresses that ranges may have")
}

// onOneProcessor has all calls of a pool run as on one processor, so that the places of blocks repeat.
func onOneProcessor(t testing.TB, p *Pool) *Pool {
	t.Helper()
	_, err := replaying.Reopen(p, 1)
	check.Must(t, err)
	return p
}

// openLine is OpenConfig of a line where nothing can be wrong.
func openLine(t testing.TB, line string) *Pool {
	t.Helper()
	c, err := ParseConfig(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var everyDevice = []string{"heap", "mmap", "mmap:fixed", "virtual", "sim"}

// everyStack runs f on each strategy over some devices.
func everyStack(t *testing.T, f func(t *testing.T, dev string, c Config)) {
	for _, dev := range everyDevice {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) { f(t, dev, Config{Strategy: s}) })
		}
	}
}

// poolsOn opens a pool of each strategy on a device. They share the collections of a test, as one of these costs more
// than all else that the test does with a pool.
func poolsOn(t *testing.T, dev string) (list []*Pool) {
	t.Helper()
	for _, s := range Strategies() {
		list = append(list, openPool(t, dev, Config{Strategy: s}))
	}
	return list
}

// collectAll is collect of many pools: it runs the collector until all are done.
func collectAll(t testing.TB, pools []*Pool, done func(Stats) bool) {
	t.Helper()
	var left []*Pool
	for range 10 {
		cycle()
		left = slices.DeleteFunc(slices.Clone(pools), func(p *Pool) bool { return done(p.Stats()) })
		if len(left) == 0 {
			cycle()
			return
		}
	}
	for _, p := range left {
		t.Errorf("%v: %+v", p, p.Stats())
	}
	t.FailNow()
}

// mustGet is Get where nothing can go wrong. It is called so often that Helper, which reads a stack, waits for a failure.
func mustGet(t testing.TB, p *Pool, n int) PooledBuffer {
	b, err := p.Get(n)
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
	return b
}

func mustAlloc(t testing.TB, a Allocator, size int) device.Block {
	b, err := a.Alloc(size)
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
	return b
}

func mustRelease(t testing.TB, b PooledBuffer) {
	if err := b.Release(); err != nil {
		t.Helper()
		t.Error(err)
	}
}

func releaseAll(t testing.TB, list []PooledBuffer) {
	t.Helper()
	for _, b := range list {
		mustRelease(t, b)
	}
}

// takeAt removes an element of a slice, in no order.
func takeAt[T any](list *[]T, i int) (x T) {
	l := *list
	x, l[i] = l[i], l[len(l)-1]
	*list = l[:len(l)-1]
	return x
}

// checkQuiet checks the identities of a pool that is not in use at the moment.
func checkQuiet(t testing.TB, p *Pool) {
	s := p.opened().stats()
	if sum := s.ActiveBytes + s.RoundingBytes + s.HeldBytes + s.UnusableBytes; sum != s.ManagedBytes ||
		s.RoundingBytes < 0 || s.HeldBytes < 0 || s.UnusableBytes < 0 || s.ActiveBytes < 0 {
		t.Helper()
		t.Errorf("managed %d, sum %d: %+v", s.ManagedBytes, sum, s)
	}
}

// checkNoneOut is checkQuiet of a pool that has no buffer out.
func checkNoneOut(t testing.TB, p *Pool) {
	t.Helper()
	checkQuiet(t, p)
	if s := p.opened().stats(); s.ActiveBlocks != 0 || s.ActiveBytes != 0 {
		t.Errorf("buffers are out: %+v", s)
	}
}

// checkNothing checks that a pool has nothing of its upstream.
func checkNothing(t testing.TB, p *Pool) {
	t.Helper()
	if s := p.opened().stats(); s.ManagedBytes != 0 || s.HeldBytes != 0 || s.HeldBlocks != 0 || s.ActiveBlocks != 0 {
		t.Errorf("something is left: %+v", s)
	}
}

// cycle runs the collector and waits for the finalizers that it found due.
func cycle() {
	if !check.Cycle() {
		panic("no finalizer ran")
	}
}

// eventually asks until the answer is yes, soon with pauses that leave others the processor.
func eventually(t testing.TB, what string, yes func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for asked := 0; !yes(); asked++ {
		if time.Now().After(deadline) {
			t.Fatalf("not in 30 s: %s", what)
		}
		if asked < 1000 {
			runtime.Gosched()
		} else {
			<-time.After(time.Millisecond)
		}
	}
}

// wantPanic runs f, which must panic with exactly the given text.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}()
	f()
}

func doesPanic(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

var errLost = errors.New("lost")

// strategyOn is NewStrategy where nothing can be wrong.
func strategyOn(name string, up Allocator, c Config) Allocator {
	s, err := NewStrategy(name, up, c)
	if err != nil {
		panic(err)
	}
	return s
}

// A passing is a wrapper as package wrap has them.
type passing struct {
	forward
	Allocator
}

func pass(a Allocator) passing { return passing{forwardTo(a), a} }

func (p passing) Unwrap() Allocator { return p.Allocator }

// testHolder is a strategy.
type testHolder interface {
	Allocator
	UsageReporter
	Holder
	Trimmer
}

// holderOn is strategyOn with all that a strategy can do.
func holderOn(name string, up Allocator, c Config) testHolder {
	return strategyOn(name, up, c).(testHolder)
}

// onRanges returns an upstream with ranges, or only the part that has none.
func onRanges(up *pages, ranges bool) Allocator {
	if ranges {
		return up
	}
	return &up.Source
}

// eachOn runs f for strategies on upstreams with ranges and without.
func eachOn(names []string, f func(name string, ranges bool)) {
	for _, name := range names {
		f(name, true)
		f(name, false)
	}
}
