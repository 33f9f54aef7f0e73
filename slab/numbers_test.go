package slab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Whatever a pool says of itself beside running calls was true at a moment of the reading, or is bounded by what was:
// Stats, Metrics, the Limit, Fragmentation, and the sums of the profile. With BUFSLAB_STRESS=n it takes n times as long.
func TestNumbersBesideCalls(t *testing.T) {
	for i, dev := range []string{"heap", "mmap", "virtual", "sim"} {
		for k, strategy := range Strategies()[:len(rows)] { // each device and each strategy meets two goroutines, and eight
			churnLine(t, Config{Device: dev, Strategy: strategy, ProfileRate: 64 << 10}, churnMost, forgetsNothing, []int{2, 8}[(i+k)%2])
		}
	}
	churnLine(t, Config{Device: "mmap", Guard: 2}, churnMost, forgetsNothing, 2, 8)
	churnLine(t, Config{Device: "mmap", Strategy: "bestfit", CacheBytes: -1}, churnMost, forgetsNothing, 2, 8)
	churnLine(t, Config{Device: "heap", MaxHeld: 8 << 10}, churnMost, forgetsNothing, 2, 8)
}

// Also while buffers are forgotten whose memory goes into quarantine, and back to the budget.
func TestNumbersBesideQuarantine(t *testing.T) {
	for _, strategy := range Strategies()[:len(rows)] {
		churnLine(t, Config{Device: "mmap", Strategy: strategy}, scarce, 64, 2, 8)
	}
}

// And over a strategy that holds memory itself, and over a strategy for two pools.
func TestNumbersOverAStrategy(t *testing.T) {
	for _, strategy := range []string{"exact", "sizeclass", "slab"} {
		l := NewLimit(openDevice(t, "mmap"), churnMost)
		below, err := NewStrategy(strategy, l, Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, goroutines := range []int{2, 8} {
			t.Run(fmt.Sprintf("%s,%d", strategy, goroutines), func(t *testing.T) {
				newChurn(mustOpen(t, below, Config{Strategy: "direct"}), churnMost, goroutines, forgetsNothing).run(t, l)
			})
		}
	}
}

const (
	churnSlots     = 16
	churnBytes     = 24 << 10
	churnMost      = 6 << 20 // of the Limit: twice what eight goroutines want
	scarce         = 1 << 20
	forgetsNothing = 1 << 30
)

// churnLine churns on a line, with numbers of goroutines.
func churnLine(t *testing.T, c Config, most int64, forgets int, numbers ...int) {
	for _, goroutines := range numbers {
		t.Run(fmt.Sprintf("%v,%d", c, goroutines), func(t *testing.T) {
			c := c
			c.MaxBytes = most
			l := NewLimit(openDevice(t, c.Device), most)
			newChurn(mustOpen(t, l, c), most, goroutines, forgets).run(t, l)
		})
	}
}

// A churn has goroutines that get and release, and knows what they have.
type churn struct {
	p          *Pool
	bound      int64 // of what the pool may have
	goroutines int
	forgets    int // one Get in so many is forgotten
	stop       atomic.Bool

	begun, got, ended tally // Gets that have begun and succeeded, and Releases that have returned
	lost              tally // forgotten
	last              reading
	most              Stats // that any reading had out
	readings, beside  int
}

type tally struct{ blocks, bytes atomic.Int64 }

func (a *tally) add(n int) { a.blocks.Add(1); a.bytes.Add(int64(n)) }

func newChurn(p *Pool, most int64, goroutines, forgets int) *churn {
	return &churn{p: p, bound: most, goroutines: goroutines, forgets: forgets}
}

func (c *churn) run(t *testing.T, l *Limit) {
	var all sync.WaitGroup
	for g := range c.goroutines {
		all.Go(func() { c.work(rand.New(rand.NewPCG(uint64(g), 1))) })
	}
	for end := time.Now().Add(time.Duration(long(t, 1)) * 5 * time.Millisecond); !t.Failed() && (c.isNew() || time.Now().Before(end)); c.readings++ {
		c.read(t, l)
		runtime.Gosched()
	}
	c.stop.Store(true)
	all.Wait()
	c.atRest(t)
}

// isNew reports whether there were less than 20 readings since the goroutines have begun.
func (c *churn) isNew() bool {
	if c.got.blocks.Load() > int64(200*c.goroutines) {
		c.beside++
	}
	return c.beside < 20
}

// work gets and releases: mostly one buffer again and again, as its caches serve best.
func (c *churn) work(r *rand.Rand) {
	var out [churnSlots]PooledBuffer
	for round := 0; !c.stop.Load() || round < 100; round++ {
		b := &out[r.IntN(churnSlots)]
		for range 1 + r.IntN(8) {
			c.release(b)
			c.get(b, 1+r.IntN(1+churnBytes>>r.IntN(8)))
		}
		if r.IntN(4) == 0 && b.ptr != nil { // else there may be nothing to copy
			c.grow(b, 1+r.IntN(churnBytes))
		}
		if r.IntN(c.forgets) == 0 && b.Len() > watchLimit {
			b.Bytes()[0] = 1
			c.lost.add(b.Len())
			*b = PooledBuffer{}
		}
		if r.IntN(64) == 0 {
			c.p.Trim(r.IntN(2))
		}
		if r.IntN(16) == 0 {
			runtime.Gosched()
		}
	}
	for i := range out {
		c.release(&out[i])
	}
}

func (c *churn) get(b *PooledBuffer, size int) {
	c.begun.add(size)
	got, err := c.p.Get(size)
	if err != nil { // the pool is full
		c.ended.add(size)
		return
	}
	c.got.add(size)
	*b = got
}

func (c *churn) release(b *PooledBuffer) {
	if n := b.Len(); b.Release() == nil {
		c.ended.add(n)
	}
	*b = PooledBuffer{}
}

func (c *churn) grow(b *PooledBuffer, size int) {
	n := b.Len()
	c.begun.add(size)
	grown, err := b.Grow(size)
	if err != nil {
		c.ended.add(size)
		return
	}
	c.got.add(size)
	c.ended.add(n)
	*b = grown
}

// read compares a reading of everything with what may have been out.
func (c *churn) read(t *testing.T, l *Limit) {
	blocks, bytes := c.ended.blocks.Load(), c.ended.bytes.Load()
	s := c.p.Stats()
	blocks, bytes = c.mostOut(blocks, bytes)
	r := readingOf(s)
	c.check(t, r, c.last)
	c.last = readingBy(c.p)
	c.check(t, c.last, r)
	if s.ActiveBlocks > blocks || s.ActiveBytes > bytes {
		t.Errorf("at most %d bytes in %d blocks were out: %+v", bytes, blocks, s)
	}
	c.most.ActiveBlocks, c.most.ActiveBytes = max(c.most.ActiveBlocks, s.ActiveBlocks), max(c.most.ActiveBytes, s.ActiveBytes)
	if n := l.InUse(); n > c.bound || n < 0 {
		t.Errorf("the Limit has %d bytes", n)
	}
	if f := c.p.Fragmentation(); f.LargestFreeBytes > f.FreeBytes || f.FreeBytes > c.bound || f.FreeBytes < 0 {
		t.Errorf("%+v", f)
	}
	c.readProfile(t)
}

// readProfile compares the sums that WriteProfile writes.
func (c *churn) readProfile(t *testing.T) {
	blocks, bytes := c.ended.blocks.Load(), c.ended.bytes.Load()
	var objects, sum int64
	for _, r := range c.p.pool.sampled(c.p.pool.out()) {
		objects += r.InUse.Objects()
		sum += r.InUse.Bytes
	}
	if blocks, bytes = c.mostOut(blocks, bytes); objects > blocks || sum > bytes {
		t.Errorf("at most %d bytes in %d blocks were out, the profile has %d and %d", bytes, blocks, sum, objects)
	}
}

// mostOut returns what can have been out at a moment of a reading that began when so much had ended. Each goroutine
// has its slots and, as it grows a buffer, one more.
func (c *churn) mostOut(endedBlocks, endedBytes int64) (blocks, bytes int64) {
	most := int64(c.goroutines * (churnSlots + 1))
	blocks = min(c.begun.blocks.Load()-endedBlocks, most+c.lost.blocks.Load())
	bytes = min(c.begun.bytes.Load()-endedBytes, most*churnBytes+c.lost.bytes.Load())
	return blocks, bytes
}

// A reading has the fields of Stats, by statFields.
type reading [len(statFields)]int64

func readingOf(s Stats) (r reading) {
	for i := range statFields {
		r[i] = statFields[i].value(&s)
	}
	return r
}

// readingBy is readingOf by way of Metrics.
func readingBy(p *Pool) (r reading) {
	i := 0
	for m := range p.Metrics() {
		if r[i] = int64(m.Value); m.Unit == "seconds" {
			r[i] = int64(math.Round(m.Value * 1e9))
		}
		i++
	}
	return r
}

func (r *reading) of(name string) int64 {
	return r[slices.IndexFunc(statFields[:], func(f statField) bool { return f.name == name })]
}

func (r *reading) String() (s string) {
	for i := range statFields {
		s += fmt.Sprintf(" %s=%d", statFields[i].name, r[i])
	}
	return s
}

// check checks a reading by itself, and by the one before.
func (c *churn) check(t *testing.T, r, before reading) {
	for i := range statFields {
		falls := r[i] < before[i] && (statFields[i].kind == Counter || strings.HasPrefix(statFields[i].name, "peak_"))
		if r[i] < 0 || falls {
			t.Errorf("%s is %d, and was %d", statFields[i].name, r[i], before[i])
		}
	}
	managed := r.of("managed_bytes")
	if sum := r.of("active_bytes") + r.of("rounding_bytes") + r.of("held_bytes") + r.of("unusable_bytes"); sum != managed {
		t.Errorf("the parts are %d:%v", sum, &r)
	}
	for part, whole := range map[string]string{
		"active_bytes": "peak_active_bytes", "managed_bytes": "peak_managed_bytes", "misses": "upstream_allocs",
		"waiting_bytes": "held_bytes", "waiting_blocks": "held_blocks", "withheld_bytes": "unusable_bytes",
	} {
		if r.of(part) > r.of(whole) {
			t.Errorf("%s is more than %s:%v", part, whole, &r)
		}
	}
	if n := r.of("peak_managed_bytes"); n > c.bound {
		t.Errorf("%d bytes of %d:%v", n, c.bound, &r)
	}
	if bytes, n := r.of("allocated_bytes"), r.of("hits")+r.of("misses"); bytes > c.begun.bytes.Load() || n > c.begun.blocks.Load() {
		t.Errorf("more was got than asked for:%v", &r)
	}
}

// atRest checks that all is exact once no call runs.
func (c *churn) atRest(t *testing.T) {
	s := c.p.Stats()
	t.Logf("%d readings, at most %d blocks and %d bytes out", c.readings, c.most.ActiveBlocks, c.most.ActiveBytes)
	lost := c.lost.blocks.Load() - s.Forgotten
	if s.ActiveBlocks != lost || (lost == 0) != (s.ActiveBytes == 0) {
		t.Errorf("%d blocks are out that the collector has not found: %+v", lost, s)
	}
	if gets := c.got.blocks.Load(); s.Hits+s.Misses != gets || s.AllocatedBytes != c.got.bytes.Load() {
		t.Errorf("%d Gets: %+v", gets, s)
	}
	if c.most.ActiveBytes == 0 {
		t.Errorf("no reading has seen a buffer: %+v", s)
	}
	if err := c.p.Close(); err != nil && lost == 0 {
		t.Error(err)
	}
}
