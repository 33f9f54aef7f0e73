package slab

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

func mustShare(t testing.TB, b PooledBuffer) PooledBuffer {
	t.Helper()
	c, err := b.Share()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustSlice(t testing.TB, b PooledBuffer, i, j int) PooledBuffer {
	t.Helper()
	c, err := b.Slice(i, j)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// overwrite gets a buffer, writes to it and releases it: memory that is free by mistake has
// other bytes then.
func overwrite(t testing.TB, p *Pool, n int, mark byte) {
	t.Helper()
	b := mustGet(t, p, n)
	device.Fill(b.Bytes(), mark)
	mustRelease(t, b)
}

// In every order of release the memory stays until the last handle has gone, whether that
// is the buffer, a share of it, or a part of the share. Then the next Get has it.
func TestMemoryGoesBackWithTheLastHandle(t *testing.T) {
	orders := [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	everyStack(t, func(t *testing.T, dev string, c Config) {
		for _, size := range []int{0, 100, 5000, 100 << 10} {
			for _, order := range orders {
				p := openPool(t, dev, c)
				b := mustGet(t, p, size)
				device.Fill(b.Bytes(), 7)
				share := mustShare(t, b)
				all := [3]PooledBuffer{b, share, mustSlice(t, share, size/4, size/2)}
				for i, k := range order {
					if s := p.Stats(); s.ActiveBlocks != 1 || s.ActiveBytes != int64(size) {
						t.Fatalf("%v, %d released: %+v", order, i, s)
					}
					overwrite(t, p, size, 9)
					for _, o := range order[i:] {
						if m := all[o].Bytes(); len(m) != 0 && (m[0] != 7 || m[len(m)-1] != 7) {
							t.Fatalf("%v, %d released: handle %d lost its bytes", order, i, o)
						}
					}
					mustRelease(t, all[k])
				}
				for _, o := range all {
					if o.Release() != ErrReleased || o.Bytes() != nil || o.Block() != (device.Block{}) || o.Cap() != 0 {
						t.Fatalf("%v: a released handle has memory", order)
					}
				}
				if s := p.Stats(); s.DoubleReleases != 3 || s.Forgotten != 0 {
					t.Errorf("%v: %+v", order, s)
				}
				checkNoneOut(t, p)
				p.StopHolding()
				checkNothing(t, p)
			}
		}
	})
}

// Of all Releases of a part one counts, on whichever copy, and the buffer is none of them.
func TestPartsAreReleasedOnce(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	for range 50 {
		b := mustGet(t, p, 1000)
		c := mustSlice(t, b, 10, 20)
		var won atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				copied := c
				switch err := copied.Release(); err {
				case nil:
					won.Add(1)
				case ErrReleased:
				default:
					t.Error(err)
				}
			})
		}
		if all.Wait(); won.Load() != 1 {
			t.Fatalf("%d Releases returned nil", won.Load())
		}
		mustRelease(t, b)
	}
	if s := p.Stats(); s.DoubleReleases != 150 {
		t.Errorf("%+v", s)
	}
	checkNoneOut(t, p)
}

// The object of a released part serves others. The old handle stays stale after the object serves another part, and a part that
// is forgotten is found, the first or a later one.
func TestAPartIsNotTheOneBefore(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, Config{})
		b := mustGet(t, p, 100<<10)
		old, ref := mustSlice(t, b, 0, 10), Ref{}
		c := old
		for range 1000 { // a sync.Pool keeps nothing for certain
			old, ref = c, c.Ref()
			mustRelease(t, old)
			if c = mustSlice(t, b, 50, 90); c.slot == old.slot {
				break
			}
		}
		if c.slot != old.slot {
			t.Fatalf("%s: each part has an object of its own", dev)
		}
		if _, err := old.Slice(0, 5); err != ErrReleased || old.Release() != ErrReleased {
			t.Errorf("%s: an old handle: %v", dev, err)
		}
		if got, err := ref.Get(); err != ErrReleased {
			t.Errorf("%s: a Ref of the old part: %v, %v", dev, got, err)
		}
		if err := c.With(func(m []byte) { clear(m) }); err != nil || c.Len() != 40 {
			t.Error(err)
		}
		mustRelease(t, c)
		if dev == "mmap" { // on the heap the memory tells
			if forgetPart(t, b, nil); !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
				t.Errorf("%+v", p.Stats())
			}
		}
		mustRelease(t, b)
		checkNoneOut(t, p)
	}
}

// An old handle may be used while its object serves parts of other memory: it is stale, and races with none of them.
func TestAnOldPartBesideNewOnes(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact"}) // a region for each block
	blocks := []PooledBuffer{mustGet(t, p, 1000), mustGet(t, p, 3000)}
	old := mustSlice(t, blocks[0], 0, 10)
	mustRelease(t, old)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 2000 {
			mustRelease(t, mustSlice(t, blocks[i%2], 0, 100))
		}
	})
	for range 2000 {
		if old.Ref() != (Ref{}) || old.Bytes() != nil || old.Cap() != 0 || old.Block().Len != 0 || old.Release() != ErrReleased {
			t.Fatal("an old handle is good")
		}
	}
	all.Wait()
	releaseAll(t, blocks)
}

// Bounds that are none, and handles that are stale, are refused and change nothing.
func TestSliceRefuses(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	before := p.Stats()
	for _, at := range [][2]int{{-1, 5}, {5, 4}, {0, 101}, {101, 101}, {-2, -1}, {0, -1}, {0, maxInt}, {maxInt, maxInt}} {
		if c, err := b.Slice(at[0], at[1]); !errors.Is(err, ErrSize) || c != (PooledBuffer{}) {
			t.Errorf("%v: %v", at, err)
		}
	}
	if p.Stats() != before {
		t.Errorf("%+v, before %+v", p.Stats(), before)
	}
	c := mustShare(t, b)
	for _, stale := range []PooledBuffer{{}, b, c} {
		_ = stale.Release()
		if _, err := stale.Share(); err != ErrReleased {
			t.Error(err)
		}
		if _, err := stale.Slice(0, stale.Len()); err != ErrReleased {
			t.Error(err)
		}
	}
	if s := p.Stats(); s.DoubleReleases != 0 {
		t.Errorf("%+v", s)
	}
	checkNoneOut(t, p)
}

// A part has its bytes, and no more, by every method, also a part of a part.
func TestPartHasItsBytes(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		const size = 10_000
		b := mustGet(t, p, size)
		for i, m := 0, b.Bytes(); i < len(m); i++ {
			m[i] = byte(i % 251)
		}
		half := mustSlice(t, b, size/2, size)
		part := mustSlice(t, half, 100, 300)
		const at = size/2 + 100
		if part.Len() != 200 || part.Cap() != 200 {
			t.Errorf("Len %d, Cap %d", part.Len(), part.Cap())
		}
		if have, want := part.Block(), b.Block(); want.Len != size || have.Len != 200 ||
			device.Bytes(have) == nil && (have.Region != want.Region || have.Off != want.Off+at) {
			t.Errorf("block %+v of %+v", have, want)
		}
		isPart := func(m []byte) {
			t.Helper()
			if m == nil && b.Bytes() == nil {
				return
			}
			if len(m) != 200 || cap(m) != 200 || m[0] != at%251 || &m[0] != &b.Bytes()[at] {
				t.Errorf("%d bytes of %d", len(m), cap(m))
			}
		}
		isPart(part.Bytes())
		isPart(device.Bytes(part.Block()))
		if err := part.With(isPart); err != nil {
			t.Error(err)
		}
		releaseAll(t, []PooledBuffer{part, b, half})
		checkNoneOut(t, p)
	})
}

// An empty part is a buffer of no bytes, also at the end of the memory.
func TestEmptyPart(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "sim"} {
		p := openPool(t, dev, Config{})
		b := mustGet(t, p, 4096)
		for _, i := range []int{0, 10, 4096} {
			c := mustSlice(t, b, i, i)
			if m := c.Bytes(); m == nil || len(m) != 0 || c.Len() != 0 || c.Cap() != 0 || c.Block() != (device.Block{}) {
				t.Errorf("%s: %d bytes", dev, len(m))
			}
			if uintptr(c.ptr) == uintptr(b.ptr)+4096 && b.ptr != nil {
				t.Errorf("%s: it is where the memory ends", dev)
			}
			mustRelease(t, mustShare(t, c))
			mustRelease(t, c)
		}
		mustRelease(t, b)
		checkNoneOut(t, p)
	}
}

// While With of a part runs the memory stays, whoever is released meanwhile.
func TestWithOfAPart(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 1000)
	c := mustSlice(t, b, 0, 500)
	err := c.With(func(m []byte) {
		releaseAll(t, []PooledBuffer{c, b})
		m[0] = 1
		overwrite(t, p, 1000, 2)
		if s := p.Stats(); s.ActiveBlocks != 1 || m[0] != 1 {
			t.Errorf("the memory has gone: %+v", s)
		}
	})
	if err != nil || c.With(nil) != ErrReleased {
		t.Error(err)
	}
	checkNoneOut(t, p)
}

// Grow of a part, and of a buffer that has one, copies. The handle ends, and the others
// keep their bytes.
func TestGrowOfWhatIsShared(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed"} {
		for _, name := range Strategies() {
			for _, to := range []int{0, 50, 100, 5000, 500_000} {
				for _, whole := range []bool{false, true} {
					p := openPool(t, dev, Config{Strategy: name})
					b := mustGet(t, p, 5000)
					device.Fill(b.Bytes(), 7)
					from, other := mustSlice(t, b, 100, 200), b
					if whole {
						from, other = b, from
					}
					c, err := from.Grow(to)
					if err != nil || c.Len() != to || to > 0 && c.Bytes()[0] != 7 || from.Release() != ErrReleased {
						t.Fatalf("%s, %s: to %d: %v", dev, name, to, err)
					}
					if overlaps(c.Bytes(), other.Bytes()) {
						t.Errorf("%s, %s: to %d: nothing was copied", dev, name, to)
					}
					device.Fill(c.Bytes(), 9)
					if m := other.Bytes(); m[0] != 7 || m[len(m)-1] != 7 {
						t.Errorf("%s, %s: to %d: the other handle lost its bytes", dev, name, to)
					}
					if s := p.Stats(); s.ActiveBlocks != 2 || s.ActiveBytes != int64(5000+to) {
						t.Errorf("%s, %s: to %d: %+v", dev, name, to, s)
					}
					releaseAll(t, []PooledBuffer{other, c})
					checkNoneOut(t, p)
				}
			}
		}
	}
}

// Device memory is copied from where the part is.
func TestGrowOfAPartOfDeviceMemory(t *testing.T) {
	p := openPool(t, "sim", Config{})
	b := mustGet(t, p, 5000)
	m := make([]byte, 5000)
	m[100] = 7
	d := deviceOf(p.pool.upstream)
	if err := d.Copy(b.Block(), device.Host(m)); err != nil {
		t.Fatal(err)
	}
	c, err := mustSlice(t, b, 100, 200).Grow(300)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Copy(device.Host(m[:300]), c.Block()); err != nil || m[0] != 7 {
		t.Errorf("%d, %v", m[0], err)
	}
	releaseAll(t, []PooledBuffer{b, c})
	checkNoneOut(t, p)
}

// A buffer whose parts are all gone grows where it is.
func TestGrowInPlaceAfterParts(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	b := mustGet(t, p, 100<<10)
	at := &b.Bytes()[0]
	mustRelease(t, mustShare(t, b))
	c, err := b.Grow(200 << 10)
	if err != nil || &c.Bytes()[0] != at {
		t.Errorf("moved, %v", err)
	}
	mustRelease(t, c)
}

// 32,768 parts are enough; With and Cap have room beside them.
func TestTooManyParts(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	var all []PooledBuffer
	for range 1 << 15 {
		all = append(all, mustShare(t, b))
	}
	for _, o := range []PooledBuffer{b, all[0]} {
		if c, err := o.Slice(0, 10); err != ErrParts || c != (PooledBuffer{}) {
			t.Error(err)
		}
	}
	if err := b.With(func([]byte) {}); err != nil || b.Cap() < 100 {
		t.Error(err)
	}
	mustRelease(t, all[1])
	all[1] = mustShare(t, all[0])
	if _, err := b.Share(); err != ErrParts {
		t.Error(err)
	}
	releaseAll(t, append(all, b))
	checkNoneOut(t, p)
}

// A released part leaves its object to later parts: Share takes none, and the pool no memory. Handles do not get larger
// by it.
func TestSharesTakeObjectsInTurn(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, Config{})
		b := mustGet(t, p, 100<<10)
		managed := p.Stats().ManagedBytes
		if a := check.Allocs(100, func() { c, _ := b.Share(); c.Release() }); a >= 1 {
			t.Errorf("%s: %v allocations", dev, a)
		}
		if p.Stats().ManagedBytes != managed {
			t.Errorf("%s: %+v", dev, p.Stats())
		}
		mustRelease(t, b)
	}
	if n := unsafe.Sizeof(PooledBuffer{}); n > 32 {
		t.Errorf("a handle of %d bytes", n)
	}
}

// Goroutines share, slice, look, release and grow what they have of one buffer. Each sees
// its bytes for as long as it has a handle, and the memory goes back once.
func TestGoroutinesShare(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		for _, c := range []Config{{}, {Strategy: "slab", CacheBytes: -1}, {Strategy: "direct"}} {
			p := openPool(t, dev, c)
			for round := range bounded(t, long(t, 80), time.Second) {
				mark := byte(round)
				b := mustGet(t, p, 5000)
				device.Fill(b.Bytes(), mark)
				var all sync.WaitGroup
				for g := range 4 {
					part := mustSlice(t, b, g*1000, 5000)
					all.Go(func() { splitUp(t, part, mark, 6) })
				}
				all.Go(func() { mustRelease(t, b) })
				all.Go(func() {
					if c, err := b.Share(); err == nil {
						splitUp(t, c, mark, 3)
					} else if err != ErrReleased {
						t.Error(err)
					}
				})
				all.Wait()
				overwrite(t, p, 5000, mark+1)
			}
			checkNoneOut(t, p)
		}
	}
}

// splitUp halves a part, one half for another goroutine, down to depth, and releases it.
func splitUp(t *testing.T, b PooledBuffer, mark byte, depth int) {
	n := b.Len()
	if m := b.Bytes(); n > 0 && (m[0] != mark || m[n-1] != mark) {
		t.Errorf("%d bytes lost", n)
	}
	if depth > 0 {
		x, y := mustSlice(t, b, 0, n/2), mustSlice(t, b, n/2, n)
		var other sync.WaitGroup
		other.Go(func() { splitUp(t, x, mark, depth-1) })
		if c, err := y.Grow(n / 4); err != nil {
			t.Error(err)
		} else {
			splitUp(t, c, mark, 0)
		}
		defer other.Wait()
	}
	mustRelease(t, b)
}

// Work of streams on any handle holds the memory back after the last Release, also where
// that handle was released first, or the buffer before.
func TestStreamsOfParts(t *testing.T) {
	for _, dev := range []string{"sim", "heap", "mmap"} {
		for first := range 3 {
			p := openPool(t, dev, Config{})
			b := mustGet(t, p, streamSize)
			all := []PooledBuffer{b, mustShare(t, b), mustSlice(t, b, 10, 20)}
			q := &queue{}
			if first == 0 {
				mustRelease(t, takeAt(&all, 0))
			}
			used(t, all[1], q)
			if len(q.Recorded) != 0 {
				t.Error("recorded at once")
			}
			mustRelease(t, takeAt(&all, first%len(all)))
			for len(all) > 0 {
				waiting(t, p, 0)
				mustRelease(t, takeAt(&all, 0))
			}
			waiting(t, p, 1)
			if len(q.Recorded) != 1 {
				t.Errorf("%d events", len(q.Recorded))
			}
			mustRelease(t, mustGetOn(t, p, streamSize, q)) // the same memory, on the same stream
			if s := p.Stats(); s.UpstreamAllocs != 1 {
				t.Errorf("%s: %+v", dev, s)
			}
			q.Finish()
			p.FreeHeld()
			checkNothing(t, p)
		}
	}
}

// A part of what GetOn got waits for its stream, and so does a copy that Grow made of it.
func TestGrowOfAPartOnAStream(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	q := &queue{}
	b := mustGetOn(t, p, streamSize, q)
	c, err := mustSlice(t, b, 0, 100).Grow(2 * streamSize)
	if err != nil || q.Syncs != 1 {
		t.Errorf("%v, %d waits", err, q.Syncs)
	}
	one := mustGrow(t, mustSlice(t, b, 0, 100), 1)
	releaseAll(t, []PooledBuffer{b, c, one})
	waiting(t, p, 3)
	q.Finish()
	p.FreeHeld()
	checkNothing(t, p)
}

// Recordings see one allocation and one free of a shared buffer.
func TestSharesAreNotRecorded(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.RecordLast = 100
		p := openPool(t, dev, c)
		b := mustGet(t, p, 1001)
		all := []PooledBuffer{mustShare(t, b), mustSlice(t, b, 1, 5), b}
		for len(all) > 0 {
			wantRecorded(t, p, "a,0,1001")
			mustRelease(t, takeAt(&all, len(all)-1))
		}
		wantRecorded(t, p, "a,0,1001", "f,0,1001")
	})
}

// Leaks lists parts with the place of their Share or Slice, as long as they are out.
func TestLeaksListParts(t *testing.T) {
	for _, c := range []Config{{Strict: true}, {Check: true}, {OnForget: "report"}} {
		p := openPool(t, "mmap", c)
		b := mustGet(t, p, 100)
		part, err := b.Slice(0, 10)
		_, file, line, _ := runtime.Caller(0)
		if err != nil {
			t.Fatal(err)
		}
		site := fmt.Sprintf("%s:%d", file, line-1)
		l := p.Leaks()
		if len(l) != 2 || l[0].Bytes != 10 || l[0].Site != site || l[0].Forgotten || l[1].Bytes != 100 {
			t.Errorf("%+v", l)
		}
		mustRelease(t, part)
		if l := p.Leaks(); len(l) != 1 {
			t.Errorf("%+v", l)
		}
		share := mustShare(t, b)
		mustRelease(t, b)
		if l := p.Leaks(); len(l) != 2 || l[0].Bytes != 100 || l[1].Bytes != 100 {
			t.Errorf("a share holds a released buffer: %+v", l)
		}
		mustRelease(t, share)
		if l := p.Leaks(); len(l) != 0 {
			t.Errorf("%+v", l)
		}
	}
}

// With Strict a second Release panics, of a part too.
func TestStrictPartPanics(t *testing.T) {
	p := openPool(t, "heap", Config{Strict: true})
	b := mustGet(t, p, 100)
	c := mustShare(t, b)
	mustRelease(t, b)
	for _, o := range []PooledBuffer{b, c} {
		_ = o == c && o.Release() != nil
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); !strings.Contains(s, "released twice: at ") || !strings.Contains(s, "part_test.go:") || !strings.Contains(s, "part") {
					t.Error(s)
				}
			}()
			o.Release()
		}()
	}
	if s := p.Stats(); s.DoubleReleases != 2 {
		t.Errorf("%+v", s)
	}
}

// A write beyond a buffer is found when its last handle is released.
func TestCheckWaitsForTheLastPart(t *testing.T) {
	p := openPool(t, "mmap", Config{Check: true})
	b := mustGet(t, p, 100)
	c := mustShare(t, b)
	k := b.Block()
	k.Len++
	device.Bytes(k)[100]++
	mustRelease(t, b)
	if !doesPanic(func() { c.Release() }) {
		t.Error("a write beyond the block was not found")
	}
}

// Parts outlive Close, and can be made after it.
func TestPartsOutliveClose(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 1000)
	c := mustShare(t, b)
	mustRelease(t, b)
	var leak *LeakError
	if err := p.Close(); !errors.As(err, &leak) || leak.Blocks != 1 || leak.Bytes != 1000 {
		t.Error(err)
	}
	d := mustSlice(t, c, 1, 2)
	releaseAll(t, []PooledBuffer{c, d})
	checkNothing(t, p)
}

// Lookup and Put know buffers, and no part. A slice that begins where the buffer begins is
// that of the buffer, until it is released.
func TestLookupKnowsNoPart(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, Config{})
		b := mustGet(t, p, 100)
		share, part := mustShare(t, b), mustSlice(t, b, 16, 50)
		m := share.Bytes()
		if _, ok := p.Lookup(part.Bytes()); ok || p.Put(part.Bytes()) != ErrForeign {
			t.Error("a part was found")
		}
		if h, ok := p.Lookup(m); !ok || h != b {
			t.Error("the buffer was not found")
		}
		if err := p.Put(m); err != nil || b.Release() != ErrReleased {
			t.Error(err)
		}
		if _, ok := p.Lookup(m); ok || p.Put(m) != ErrForeign {
			t.Error("a buffer that was released was found")
		}
		if s := p.Stats(); s.ActiveBlocks != 1 || s.ForeignPuts != 2 {
			t.Errorf("%+v", s)
		}
		releaseAll(t, []PooledBuffer{share, part})
		checkNoneOut(t, p)
	}
}
