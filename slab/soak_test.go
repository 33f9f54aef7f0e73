package slab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
)

// For as long as BUFSLAB_SOAK says, or a fifth of a second: four goroutines on pools of every device
// and strategy, two on one Limit, that get, fill, check, release and forget. The device
// has no room now and then, panics, and takes its time. The number of processors and the
// pace of the collector change, and held memory is given back, until somebody closes the
// pools. Then all that was out comes back: no buffer was anybody else's, every figure is
// 0, and the process has the memory that it began with, and the addresses but for those in
// quarantine and what lay below them in the ranges of their pools.
//
//	BUFSLAB_SOAK=10m go test ./slab -run TestSoak -v -timeout 20m
func TestSoak(t *testing.T) {
	length := 200 * time.Millisecond
	if s := os.Getenv("BUFSLAB_SOAK"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	s := &soak{t: t, r: rand.New(rand.NewPCG(12, uint64(length)))}
	stacks := s.stacks()
	for _, c := range stacks {
		s.round(c, 1000) // so that what the runtime takes once is taken
	}
	s.quarantined.Store(0)
	s.ranges.Store(0)
	before := footprint(t)
	rounds := 0
	for end := time.Now().Add(length); time.Now().Before(end) && !t.Failed(); rounds++ {
		s.round(stacks[rounds%len(stacks)], 20_000)
	}
	after := footprint(t)
	t.Logf("%d rounds, %d Gets, %d forgotten, %d failures and %d panics of devices", rounds, s.gets.Load(), s.forgotten.Load(), s.failures.Load(), s.panics.Load())
	t.Logf("resident %d MiB, then %d; addresses %d MiB, then %d, %d MiB in quarantine, in pools that had %d at most", before.resident>>20, after.resident>>20, before.addresses>>20, after.addresses>>20, s.quarantined.Load()>>20, s.ranges.Load()>>20)
	if raceEnabled || sanitized {
		return // their own memory grows
	}
	if after.resident > before.resident+64<<20 {
		t.Error("memory did not come back")
	}
	if after.addresses > before.addresses+s.ranges.Load()+256<<20 {
		t.Error("addresses did not come back")
	}
}

type soak struct {
	t *testing.T
	r *rand.Rand

	gets, forgotten, failures, panics, quarantined atomic.Int64

	ranges atomic.Int64 // the most that pools had which have something in quarantine
}

// stacks are the configurations of all rounds.
func (s *soak) stacks() (list []Config) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed", "virtual", "sim:256MiB"} {
		for _, strategy := range Strategies() {
			list = append(list, Config{Device: dev, Strategy: strategy, MaxBytes: 48 << 20})
		}
		list = append(list, Config{Device: dev, Check: true}, Config{Device: dev, TrimAfter: time.Millisecond, Idle: time.Millisecond},
			Config{Device: dev, OnForget: "free"}, Config{Device: dev, MaxHeld: 1 << 20})
	}
	return list
}

// round opens two pools on one Limit, lets four goroutines use them, closes them, and
// waits until all has come back.
func (s *soak) round(c Config, steps int) {
	name := c.String()
	d, err := device.Open(c.Device)
	if err != nil {
		s.t.Fatal(err)
	}
	fickle := &fickleDevice{Device: d, s: s}
	limit := NewLimit(fickle, 64<<20)
	pools := []*Pool{mustOpen(s.t, limit, c), mustOpen(s.t, limit, c)}
	lost := s.quarantined.Load()
	var all sync.WaitGroup
	for g := range 4 {
		w := &soaker{s: s, name: name, p: pools[g%2], r: rand.New(rand.NewPCG(s.r.Uint64(), uint64(g))), offHeap: c.Device != "heap"}
		all.Go(func() { w.run(steps / 4) })
	}
	all.Wait()
	fickle.calm.Store(true)
	for _, p := range pools {
		p.Close()
	}
	s.awaitNothing(name, pools, limit, lost)
	if err := d.Close(); err != nil {
		s.t.Errorf("%s: %v", name, err)
	}
}

// awaitNothing waits until all forgotten buffers have been found, and nothing is left but
// the parts of pages that are in quarantine. A finalizer may be about to free what it has
// counted already. lost is what was in quarantine before the round.
func (s *soak) awaitNothing(name string, pools []*Pool, limit *Limit, lost int64) {
	s.t.Helper()
	beside := int64(0) // free parts of pages whose other parts are in quarantine
	if s.quarantined.Load() > lost {
		beside = 64 << 10
	}
	for i, p := range pools {
		if beside > 0 {
			s.ranges.Add(p.Stats().PeakManagedBytes)
		}
		if !collect(p, func(Stats) bool {
			p.FreeHeld()
			st := p.Stats()
			return st.ActiveBlocks == 0 && st.ManagedBytes-st.UnusableBytes <= beside && st.UnusableBytes <= 2*beside
		}) {
			s.t.Errorf("%s: pool %d is left with %+v", name, i, p.Stats())
		}
		runtime.KeepAlive(p)
	}
	if sum := pools[0].Stats().ManagedBytes + pools[1].Stats().ManagedBytes; limit.InUse() != sum {
		s.t.Errorf("%s: %d bytes of the limit in use, %d managed", name, limit.InUse(), sum)
	}
}

// A fickleDevice has no room now and then, panics, and takes its time, until it is calm.
type fickleDevice struct {
	device.Device
	s    *soak
	calm atomic.Bool
}

const fickle = "the device is fickle"

func (d *fickleDevice) upset() error {
	switch k := rand.IntN(200); {
	case d.calm.Load():
	case k < 4:
		d.s.failures.Add(1)
		return fmt.Errorf("%s: %w", fickle, device.ErrOutOfMemory)
	case k == 4:
		d.s.panics.Add(1)
		panic(fickle)
	case k < 10:
		for range 100 {
			runtime.Gosched()
		}
	}
	return nil
}

func (d *fickleDevice) Alloc(size int) (device.Block, error) {
	if err := d.upset(); err != nil {
		return device.Block{}, err
	}
	return d.Device.Alloc(size)
}

func (d *fickleDevice) Traits() device.Traits { return device.TraitsOf(d.Device) }

func (d *fickleDevice) Reserve(size int) (device.Range, error) {
	r, ok := d.Device.(device.Reserver)
	if !ok {
		return nil, device.ErrUnavailable
	}
	if err := d.upset(); err != nil {
		return nil, err
	}
	g, err := r.Reserve(size)
	return &fickleRange{g, d}, err
}

type fickleRange struct {
	device.Range
	d *fickleDevice
}

func (r *fickleRange) Commit(off, n int) error {
	if err := r.d.upset(); err != nil {
		return err
	}
	return r.Range.Commit(off, n)
}

// A soaker is one of the goroutines.
type soaker struct {
	s       *soak
	name    string
	p       *Pool
	r       *rand.Rand
	offHeap bool
	live    []owned
	id      uint64
}

func (w *soaker) run(steps int) {
	w.id = w.r.Uint64()
	for i := range steps {
		w.guarded(func() { w.step(i, steps) })
	}
	for _, o := range w.live {
		w.guarded(func() { w.release(o) })
	}
	w.live = nil
}

// guarded lets a panic of the device pass.
func (w *soaker) guarded(f func()) {
	defer func() {
		if r := recover(); r != nil && r != fickle {
			panic(r)
		}
	}()
	f()
}

func (w *soaker) step(i, steps int) {
	switch k := w.r.IntN(10_000); {
	case k < 5000 && len(w.live) < 64:
		w.get()
	case k < 9950:
		if n := len(w.live); n > 0 {
			w.release(takeAt(&w.live, w.r.IntN(n)))
		}
	case k < 9960:
		runtime.GOMAXPROCS(1 + w.r.IntN(16))
	case k < 9970:
		debug.SetGCPercent([]int{10, 50, 100, 400, -1}[w.r.IntN(5)])
	case k < 9980:
		w.p.FreeHeld()
	case k < 9990:
		w.p.Trim(w.r.IntN(3))
	case i < steps*9/10: // what follows is for the end
		w.p.Stats()
	case k < 9995:
		w.p.StopHolding()
	default:
		w.p.Close()
	}
}

// get has a buffer filled, and one of fifty forgotten. Off the heap that is one above a
// page, as smaller ones are not found, and mostly one whose bytes did not escape.
func (w *soaker) get() {
	size := w.r.IntN(1 << w.r.IntN(19))
	b, err := w.p.Get(size)
	switch {
	case errors.Is(err, device.ErrOutOfMemory), errors.Is(err, ErrClosed):
		return
	case err != nil:
		w.s.t.Errorf("%s: Get of %d: %v", w.name, size, err)
		return
	}
	w.s.gets.Add(1)
	w.id++
	if err := b.With(func(m []byte) { mark(m, w.id) }); err != nil {
		w.s.t.Errorf("%s: %v", w.name, err)
	}
	if w.r.IntN(50) == 0 && (!w.offHeap || size > 2*watchLimit) {
		w.s.forgotten.Add(1)
		if w.offHeap && w.r.IntN(10) == 0 && b.Bytes() != nil {
			w.s.quarantined.Add(int64(size))
		}
		return
	}
	w.live = append(w.live, owned{b, w.id})
}

// mark writes what only the owner of m knows.
func mark(m []byte, id uint64) {
	for i := 0; i+8 <= len(m); i += stride(len(m)) {
		binary.LittleEndian.PutUint64(m[i:], id+uint64(i))
	}
}

func marked(m []byte, id uint64) bool {
	for i := 0; i+8 <= len(m); i += stride(len(m)) {
		if binary.LittleEndian.Uint64(m[i:]) != id+uint64(i) {
			return false
		}
	}
	return true
}

func (w *soaker) release(o owned) {
	if err := o.b.With(func(m []byte) {
		if !marked(m, o.mark) {
			w.s.t.Errorf("%s: %d bytes: somebody else has written to them", w.name, len(m))
		}
	}); err != nil {
		w.s.t.Errorf("%s: %v", w.name, err)
	}
	if err := o.b.Release(); err != nil {
		w.s.t.Errorf("%s: %v", w.name, err)
	}
	if err := o.b.Release(); err != ErrReleased {
		w.s.t.Errorf("%s: second Release: %v", w.name, err)
	}
}

// A processSize is what the system counts for the process, in bytes.
type processSize struct{ resident, addresses int64 }

func footprint(t *testing.T) (p processSize) {
	cycle()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return p // of other systems only the rest is tested
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			p.resident = kib << 10
		}
		if n, _ := fmt.Sscanf(line, "VmSize: %d kB", &kib); n == 1 {
			p.addresses = kib << 10
		}
	}
	return p
}
