package slab

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

func mustGrow(t testing.TB, b PooledBuffer, n int) PooledBuffer {
	t.Helper()
	c, err := b.Grow(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mustBeStale fails unless b has nothing any more.
func mustBeStale(t testing.TB, b PooledBuffer) {
	t.Helper()
	_, err := b.Grow(b.Len())
	if b.Bytes() != nil || b.Cap() != 0 || err != ErrReleased || b.Release() != ErrReleased {
		t.Errorf("a buffer of %d bytes is not stale: Grow says %v", b.Len(), err)
	}
}

// The new buffer has the contents of the old one, which is stale, whatever stands where.
func TestGrowKeepsContents(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if dev == "sim" || dev == "virtual" {
			t.Skip("the CPU does not reach its memory")
		}
		p := openPool(t, dev, c)
		b := mustGet(t, p, 1)
		b.Bytes()[0] = 1
		for n := 2; n <= 1<<20; n *= 2 {
			c := mustGrow(t, b, n)
			mustBeStale(t, b)
			if b = c; b.Len() != n || b.Cap() < n || len(b.Bytes()) != n {
				t.Fatalf("grown to %d bytes: Len %d, Cap %d", n, b.Len(), b.Cap())
			}
			m := b.Bytes()
			for i, v := range m[:n/2] {
				if v != byte(i+1) {
					t.Fatalf("byte %d of %d: %d", i, n, v)
				}
			}
			for i := n / 2; i < n; i++ {
				m[i] = byte(i + 1)
			}
			checkQuiet(t, p)
		}
		if s := p.Stats(); s.ActiveBlocks != 1 || s.ActiveBytes != 1<<20 || s.DoubleReleases != 20 {
			t.Errorf("%+v", s)
		}
		mustRelease(t, b)
		checkNoneOut(t, p)
	})
}

// Within the block nothing moves; a smaller n cuts the view and keeps the block.
func TestGrowWithinTheBlock(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 1000)
	at, room := &b.Bytes()[0], b.Cap()
	if room != 1024 {
		t.Fatalf("1000 bytes have a block of %d", room)
	}
	before := p.Stats()
	for _, n := range []int{1024, 10, 0, 1, 1024} {
		old := b
		if b = mustGrow(t, b, n); b.Cap() != room || b.Len() != n || n > 0 && &b.Bytes()[0] != at {
			t.Errorf("%d bytes: Cap %d, or moved", n, b.Cap())
		}
		mustBeStale(t, old)
	}
	if now := p.Stats(); now.ManagedBytes != before.ManagedBytes || now.ActiveBytes != 1024 || now.ActiveBlocks != 1 || now.Hits != before.Hits+5 {
		t.Errorf("%+v became %+v", before, now)
	}
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// With bestfit and slab a buffer takes the memory after it: free, in a cache, or from the
// range. Its neighbour keeps it from that.
func TestGrowInPlace(t *testing.T) {
	for _, name := range []string{"bestfit", "slab"} {
		p := mustOpen(t, &pages{}, Config{Strategy: name, MaxBytes: 1 << 20})
		b := mustGet(t, p, 4096)
		at := where(b)
		for n := 8192; n <= 512<<10; n *= 2 {
			if b = mustGrow(t, b, n); where(b) != at || b.Cap() != n {
				t.Fatalf("%s: %d bytes have moved", name, n)
			}
		}
		next := mustGet(t, p, 4096)
		if where(next).Off != at.Off+512<<10 {
			t.Fatal("the test needs a neighbour")
		}
		mustRelease(t, next) // it may lie in a cache
		if b = mustGrow(t, b, 700<<10); where(b) != at {
			t.Errorf("%s: a neighbour that is free was in the way", name)
		}
		next = mustGet(t, p, 4096)
		if _, err := b.Grow(800 << 10); !outOfMemory(err) || b.Len() != 700<<10 || where(b) != at {
			t.Errorf("%s: a neighbour, and no room elsewhere: %v", name, err)
		}
		mustRelease(t, next)
		if s := p.Stats(); s.PeakManagedBytes > 1<<20 || s.UpstreamAllocs > 12 {
			t.Errorf("%s: %+v", name, s)
		}
		mustRelease(t, b)
		checkNoneOut(t, p)
		p.FreeHeld()
		if u := usageOf(p.pool.strategy, 0); u != (Usage{}) {
			t.Errorf("%s: the strategy counts %+v", name, u)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		checkNothing(t, p)
	}
}

// What was decommitted after a block is taken before anything is copied.
func TestGrowTakesDecommittedPages(t *testing.T) {
	p := mustOpen(t, &pages{Source: source{Host: true}}, Config{Strategy: "bestfit", CacheBytes: -1})
	b, next, top := mustGet(t, p, page), mustGet(t, p, 8*page), mustGet(t, p, page)
	at := where(b)
	mustRelease(t, next)
	p.FreeHeld()
	if s := p.Stats(); s.HeldBytes >= 8*page {
		t.Fatalf("nothing is decommitted: %+v", s)
	}
	if b = mustGrow(t, b, 9*page); where(b) != at {
		t.Error("moved")
	}
	if b = mustGrow(t, b, 10*page); where(b) == at {
		t.Error("grown into its neighbour")
	}
	releaseAll(t, []PooledBuffer{b, top})
	checkNoneOut(t, p)
}

// A block that was grown serves its new class, or is not cached.
func TestGrownBlockIsCachedByItsLength(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "slab", CacheBytes: 64 << 20})
	b := mustGrow(t, mustGet(t, p, 4096), 1<<20)
	at := where(b)
	mustRelease(t, b)
	if b = mustGet(t, p, 1<<20); where(b) != at {
		t.Error("the block does not serve its new class")
	}
	if b = mustGrow(t, b, 48<<20); b.slot.Simple() || b.slot.Class() != p.pool.cache.Uncached() {
		t.Error("a block above the largest class is cached")
	}
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// If there is no room, or the pool is closed, b is as before.
func TestGrowThatFailsChangesNothing(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.MaxBytes = 1 << 20
		p := openPool(t, dev, c)
		b := mustGet(t, p, 5000)
		before := p.Stats()
		_, negative := b.Grow(-1)
		_, large := b.Grow(2 << 20)
		_, absurd := b.Grow(math.MaxInt)
		var full *OutOfMemoryError
		if !errors.Is(negative, ErrSize) || !errors.As(large, &full) || full.Size != 2<<20 || !outOfMemory(absurd) {
			t.Errorf("%v; %v; %v", negative, large, absurd)
		}
		now := p.Stats()
		if now.ActiveBytes != 5000 || now.ActiveBlocks != 1 || now.ManagedBytes > before.ManagedBytes {
			t.Errorf("%+v became %+v", before, now)
		}
		if err := p.Close(); err == nil {
			t.Error("no leak")
		}
		if _, err := b.Grow(10); err != ErrClosed {
			t.Errorf("of a closed pool: %v", err)
		}
		mustRelease(t, b)
		checkNothing(t, p)
	})
	if _, err := (PooledBuffer{}).Grow(0); err != ErrReleased {
		t.Errorf("of the zero PooledBuffer: %v", err)
	}
}

// Of all Grows and Releases of one buffer one succeeds, in place or not. Those that With
// keeps from ending the generation at once are among them.
func TestOfAllGrowsAndReleasesOneCounts(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if dev == "virtual" {
			t.Skip("nothing can be copied")
		}
		p := openPool(t, dev, c)
		for round := range 60 {
			b := mustGet(t, p, 1000)
			var won atomic.Int64
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					switch i {
					case 0:
						if b.Release() == nil {
							won.Add(1)
						}
					case 1:
						_ = b.With(func([]byte) { b.Cap() })
					default:
						c, err := b.Grow(1000 + 3000*(i+round%2))
						if err == nil {
							won.Add(1)
							mustRelease(t, c)
						} else if err != ErrReleased {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d won", won.Load())
			}
		}
		checkNoneOut(t, p)
	})
}

// While With runs Grow copies, and the old memory stays until that returns.
func TestGrowWithinWith(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if dev == "virtual" {
			t.Skip("nothing can be copied")
		}
		p := openPool(t, dev, c)
		b := mustGet(t, p, 1000)
		at := where(b)
		var grown PooledBuffer
		if err := b.With(func(m []byte) {
			grown = mustGrow(t, b, 1001)
			if m != nil {
				m[0] = 9
			}
			others := []PooledBuffer{mustGet(t, p, 1000), mustGet(t, p, 1000)}
			for _, o := range append(others, grown) {
				if dev != "heap" && where(o) == at {
					t.Error("memory that With uses has another owner")
				}
			}
			releaseAll(t, others)
			if s := p.Stats(); s.ActiveBlocks != 2 {
				t.Errorf("%+v", s)
			}
		}); err != nil {
			t.Error(err)
		}
		mustRelease(t, grown)
		checkNoneOut(t, p)
	})
}

// With Config.Zero what is beyond the old length is cleared, in place and by copy.
func TestGrowClears(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "sim:pinned"} {
		for _, name := range Strategies() {
			p := openPool(t, dev, Config{Strategy: name, Zero: true})
			dirty := []PooledBuffer{mustGet(t, p, 300<<10), mustGet(t, p, 5000)}
			for _, b := range dirty {
				paint(b.Bytes(), 7)
			}
			releaseAll(t, dirty)
			b := mustGet(t, p, 5000)
			for _, n := range []int{100, 4000, 5000, 20_000, 300 << 10} {
				old := b.Len()
				paint(b.Bytes(), 7)
				b = mustGrow(t, b, n)
				for i, v := range b.Bytes() {
					if want := byte(7); i < old && v != want || i >= old && v != 0 {
						t.Fatalf("%s, %s: byte %d of %d, grown from %d: %d", dev, name, i, n, old, v)
					}
				}
			}
			mustRelease(t, b)
		}
	}
}

// Streams that use b use the new buffer. A Grow that copies waits for them.
func TestGrowOfUsedBuffer(t *testing.T) {
	streamPools(t, 64, Config{}, func(t *testing.T, p *Pool, _ *sim.Device) {
		for _, n := range []int{900, 1000, 2000, streamSize} {
			q := &queue{}
			b := used(t, mustGet(t, p, 1000), q)
			at := where(b)
			b = mustGrow(t, b, n)
			if moved := where(b) != at; moved != (q.Syncs > 0) {
				t.Errorf("%d bytes: %d waits, moved: %v", n, q.Syncs, moved)
			}
			q.Finish()
			p.Trim(1)
			recorded := len(q.Recorded)
			mustRelease(t, b)
			if len(q.Recorded) != recorded+1 {
				t.Error("the new buffer does not wait for the stream")
			}
			q.Finish()
			p.Trim(1)
			waiting(t, p, 0)
		}
	})
}

// Device memory is copied by its device, and cleared there.
func TestGrowOfDeviceMemory(t *testing.T) {
	for _, zero := range []bool{false, true} {
		for _, name := range Strategies() {
			d := sim.New(1 << 20)
			p := mustOpen(t, d, Config{Strategy: name, Zero: zero})
			b := mustGet(t, p, 1000)
			if err := d.Copy(b.Block(), device.Host([]byte(strings.Repeat("x", 1000)))); err != nil {
				t.Fatal(err)
			}
			b = mustGrow(t, mustGrow(t, b, 3000), 100_000)
			m := make([]byte, 100_000)
			if err := d.Copy(device.Host(m), b.Block()); err != nil {
				t.Fatal(err)
			}
			if string(m[:1000]) != strings.Repeat("x", 1000) || zero && string(m[1000:]) != strings.Repeat("\x00", 99_000) {
				t.Errorf("%s, zero=%v: the contents are lost", name, zero)
			}
			mustRelease(t, b)
			checkNoneOut(t, p)
		}
	}
}

// Without memory that can be copied only growth in place succeeds.
func TestGrowOfVirtualMemory(t *testing.T) {
	p := openPool(t, "virtual", Config{Strategy: "bestfit"})
	b := mustGrow(t, mustGet(t, p, 4096), 1<<20)
	o := mustGet(t, p, 4096)
	if _, err := b.Grow(2 << 20); !errors.Is(err, device.ErrUnavailable) || b.Cap() != 1<<20 {
		t.Errorf("%v", err)
	}
	releaseAll(t, []PooledBuffer{b, o})
	checkNoneOut(t, p)
}

// A small block that no finalizer watches has one when it is grown: it is found forgotten,
// and comes back unless a slice of it, or of what it was, may be in use.
func TestGrownBufferIsFoundForgotten(t *testing.T) {
	for _, escaped := range []bool{false, true} {
		p := openPool(t, "mmap", Config{Strategy: "bestfit"})
		func() {
			b := mustGet(t, p, 5000)
			if escaped {
				b.Bytes()
			}
			mustGrow(t, b, 1<<20)
		}()
		func() { mustGrow(t, mustGet(t, p, 1000), 1<<20) }()
		eventually(t, "both are found", func() bool {
			cycle()
			s := p.Stats()
			return s.Forgotten == 2 && s.ActiveBytes == 0
		})
		if s := p.Stats(); escaped && s.HeldBytes >= s.PeakManagedBytes {
			t.Errorf("what may be in use is held: %+v", s)
		}
		checkQuiet(t, p)
	}
}

// A heap buffer that was grown within its region keeps alive what it needs, no more.
func TestGrownHeapBufferComesBack(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "bestfit"})
	func() {
		b := mustGrow(t, mustGet(t, p, 1000), 10_000)
		cycle()
		paint(b.Bytes(), 3)
		if s := p.Stats(); s.Forgotten != 0 {
			t.Errorf("%+v", s)
		}
	}()
	eventually(t, "it is found", func() bool { cycle(); return p.Stats().Forgotten == 1 })
	checkNoneOut(t, p)
}

// Check, Record and call sites see a Grow as a Get and a Release.
func TestGrowIsSeen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	for _, c := range []Config{{Check: true}, {Record: file}, {Strict: true}} {
		c.Strategy = "bestfit"
		p := openPool(t, "mmap", c)
		b := mustGet(t, p, 1000)
		paint(b.Bytes(), 5)
		b = mustGrow(t, b, 9000)
		if b.Bytes()[999] != 5 {
			t.Error("contents are lost")
		}
		if sites := p.Leaks(); c.Record == "" && (len(sites) != 1 || sites[0].Bytes != 9000) {
			t.Errorf("%+v", sites)
		}
		mustRelease(t, b)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "op,id,size\na,0,1000\na,1,9000\nf,0,1000\nf,1,9000\n" {
		t.Errorf("%s, %v", text, err)
	}
}

// If the upstream panics as a range is extended, the buffer is as before.
func TestGrowPassesPanics(t *testing.T) {
	up := &pages{Source: source{Host: true}}
	p := mustOpen(t, up, Config{Strategy: "bestfit"})
	b := mustGet(t, p, 5000)
	up.Panic, up.FailAt = true, up.Calls+1
	if !doesPanic(func() { b.Grow(1 << 20) }) {
		t.Error("no panic")
	}
	checkQuiet(t, p)
	mustRelease(t, mustGrow(t, b, 1<<20))
	checkNoneOut(t, p)
}

func TestCapIsOfTheBlock(t *testing.T) {
	p := openPool(t, "heap", Config{})
	if n := mustGet(t, p, 0).Cap() + (PooledBuffer{}).Cap(); n != 0 {
		t.Errorf("of nothing: %d", n)
	}
	for _, n := range []int{1, 1000, 100_000} {
		if b := mustGet(t, p, n); b.Cap() < n || fmt.Sprint(len(b.Bytes()), cap(b.Bytes())) != fmt.Sprint(n, n) {
			t.Errorf("%d of %d bytes", b.Cap(), n)
		}
	}
}

// A neighbour that lies in a cache gives way before anything is copied.
func TestGrowEmptiesCachesFirst(t *testing.T) {
	p := mustOpen(t, &pages{Source: source{Host: true}}, Config{Strategy: "bestfit"})
	b, next := mustGet(t, p, page), mustGet(t, p, page)
	at := where(b)
	mustRelease(t, next)
	if p.pool.cache.Usage().Blocks != 1 {
		t.Fatal("the neighbour is in no cache")
	}
	if b = mustGrow(t, b, 12*page); where(b) != at {
		t.Error("moved")
	}
	mustRelease(t, b)
}

// Where there is no room elsewhere Grow looks after b again when all has gone back that can.
func TestGrowWithoutRoomLooksInPlaceAgain(t *testing.T) {
	p := mustOpen(t, &pages{Source: source{Host: true}}, Config{Strategy: "bestfit", MaxBytes: 1 << 20})
	q := &queue{}
	b, next := mustGet(t, p, 400<<10), mustGet(t, p, 300<<10)
	at := where(b)
	mustRelease(t, used(t, next, q))
	if b = mustGrow(t, b, 650<<10); where(b) != at || q.Synced() != 1 {
		t.Errorf("%d waits, %v became %v", q.Synced(), at, where(b))
	}
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// A stream that panics as Grow waits for it loses nothing: the new buffer goes back.
func TestGrowThatPanicsAsItCopies(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := used(t, mustGet(t, p, 1000), &panickyStream{})
	b.Bytes()[999] = 7
	if !doesPanic(func() { b.Grow(5000) }) {
		t.Fatal("no panic")
	}
	if s := p.Stats(); s.ActiveBlocks != 1 || s.ActiveBytes != 1000 || b.Bytes()[999] != 7 {
		t.Errorf("%+v", s)
	}
	checkQuiet(t, p)
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// A panickyStream panics where Grow waits for it.
type panickyStream struct{ queue }

func (*panickyStream) Sync() error { panic("told to") }
