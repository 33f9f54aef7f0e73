package slab

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// forgetPart makes a part of b, uses it and forgets it.
func forgetPart(t *testing.T, b PooledBuffer, use func(PooledBuffer)) {
	t.Helper()
	c := mustSlice(t, b, 0, b.Len()/2)
	if use != nil {
		use(c)
	}
}

func within(b PooledBuffer) { b.With(func([]byte) {}) }

// forgottenParts runs f on stacks where forgotten buffers are found by a finalizer.
func forgottenParts(t *testing.T, f func(t *testing.T, pools []*Pool, size int)) {
	for _, dev := range []string{"mmap", "mmap:fixed", "virtual", "sim"} {
		t.Run(dev, func(t *testing.T) { f(t, poolsOn(t, dev), 100<<10) })
	}
}

// Off the heap a forgotten part counts, and the buffer goes on.
func TestForgottenPartLetsGo(t *testing.T) {
	forgottenParts(t, func(t *testing.T, pools []*Pool, size int) {
		var buffers []PooledBuffer
		for _, p := range pools {
			b := mustGet(t, p, size)
			forgetPart(t, b, within)
			buffers = append(buffers, b)
		}
		collectAll(t, pools, func(s Stats) bool { return s.Forgotten == 1 })
		for i, p := range pools {
			if s := p.Stats(); s.ActiveBlocks != 1 || s.ActiveBytes != int64(size) {
				t.Errorf("%v: %+v", p, s)
			}
			mustRelease(t, buffers[i])
			checkNoneOut(t, p)
			if s := p.Stats(); s.UnusableBytes != 0 || s.Forgotten != 1 {
				t.Errorf("%v: %+v", p, s)
			}
			p.StopHolding()
			checkNothing(t, p)
		}
	})
}

// Off the heap the block comes back when its last handle is a part that was forgotten, and
// Forgotten counts handles.
func TestForgottenLastPartComesBack(t *testing.T) {
	forgottenParts(t, func(t *testing.T, pools []*Pool, size int) {
		for _, p := range pools {
			forgetOne(t, p, size, func(b PooledBuffer) {
				forgetPart(t, b, within)
				forgetPart(t, mustShare(t, b), nil) // and the share
				mustRelease(t, b)
			})
		}
		collectAll(t, pools, func(s Stats) bool { return s.Forgotten == 3 })
		for _, p := range pools {
			checkNoneOut(t, p)
			p.StopHolding()
			checkNothing(t, p)
		}
	})
}

// Off the heap nothing is found while a part is in use: it keeps the buffer, which was
// forgotten. Then all comes back.
func TestPartKeepsAForgottenBuffer(t *testing.T) {
	forgottenParts(t, func(t *testing.T, pools []*Pool, size int) {
		parts := make([]PooledBuffer, len(pools))
		for i, p := range pools {
			forgetOne(t, p, size, func(b PooledBuffer) { parts[i] = mustShare(t, b) })
		}
		cycle()
		cycle()
		for i, p := range pools {
			if s := p.Stats(); s.Forgotten != 0 || s.ActiveBlocks != 1 {
				t.Fatalf("%v: %+v", p, s)
			}
			mustRelease(t, parts[i]) // which may be kept: it keeps nothing
		}
		collectAll(t, pools, func(s Stats) bool { return s.Forgotten == 1 })
		for i, p := range pools {
			if parts[i].Len() != size {
				t.Error(parts[i].Len())
			}
			checkNoneOut(t, p)
		}
	})
}

// A part whose bytes escaped, and that was forgotten, puts the memory into quarantine when
// the other handles are gone, however they go: it is never handed out again. One way that bytes
// escape is tried in one case only, as both note the same.
func TestEscapedPartIsQuarantined(t *testing.T) {
	bytesOf := PooledBuffer.Bytes
	blockOf := func(b PooledBuffer) []byte { return device.Bytes(b.Block()) }
	for _, c := range []struct {
		name  string
		reach func(PooledBuffer) []byte
		end   func(b, c PooledBuffer)
	}{
		{"released", bytesOf, func(b, c PooledBuffer) { b.Release(); c.Release() }},
		{"released,Block", blockOf, func(b, c PooledBuffer) { b.Release(); c.Release() }},
		{"part last", bytesOf, func(b, c PooledBuffer) { c.Release(); b.Release() }},
		{"forgotten", bytesOf, func(b, c PooledBuffer) {}},
		{"part forgotten", bytesOf, func(b, c PooledBuffer) { b.Release() }},
		{"within With", bytesOf, func(b, c PooledBuffer) { c.Release(); b.With(func([]byte) { b.Release() }) }},
		{"grown", bytesOf, func(b, c PooledBuffer) {
			c.Release()
			if b, err := b.Grow(10); err == nil {
				b.Release()
			}
		}},
	} {
		for _, dev := range []string{"mmap", "mmap:fixed"} {
			t.Run(c.name+","+dev, func(t *testing.T) { escapeAPart(t, poolsOn(t, dev), c.reach, c.end) })
		}
	}
}

func escapeAPart(t *testing.T, pools []*Pool, reach func(PooledBuffer) []byte, end func(b, c PooledBuffer)) {
	const size = 100 << 10
	views := make([][]byte, len(pools))
	func() {
		shares := make([][2]PooledBuffer, len(pools))
		for i, p := range pools {
			b := mustGet(t, p, size)
			shares[i] = [2]PooledBuffer{b, mustShare(t, b)}
			forgetPart(t, b, func(b PooledBuffer) { views[i] = reach(b) })
		}
		collectAll(t, pools, func(s Stats) bool { return s.Forgotten == 1 })
		for i, p := range pools {
			if s := p.Stats(); s.ActiveBlocks != 1 || s.UnusableBytes != 0 {
				t.Errorf("%v, in use: %+v", p, s)
			}
			views[i][100] = 1
			end(shares[i][0], shares[i][1])
		}
	}()
	collectAll(t, pools, func(s Stats) bool { return s.ActiveBlocks == 0 && s.UnusableBytes <= 16<<10 })
	for i, p := range pools {
		if !faults(&views[i][20<<10]) {
			t.Errorf("%v: the view does not fault", p)
		}
		var others []PooledBuffer
		for range 20 {
			others = append(others, mustGet(t, p, size))
			if overlaps(others[len(others)-1].Bytes(), views[i]) {
				t.Errorf("%v: the address was handed out again", p)
			}
		}
		releaseAll(t, others)
		checkQuiet(t, p)
	}
}

// Quarantine of a forgotten part's memory waits for the streams that use it.
func TestQuarantineOfAPartWaits(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	q := &queue{}
	b := mustGet(t, p, streamSize)
	var view []byte
	forgetPart(t, b, func(c PooledBuffer) { used(t, c, q); view = c.Bytes(); view[100] = 7 })
	if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
		t.Fatalf("%+v", p.Stats())
	}
	mustRelease(t, b)
	if p.FreeHeld(); view[100] != 7 || p.Stats().UnusableBytes != streamSize {
		t.Errorf("the memory is gone before the stream is done: %+v", p.Stats())
	}
	q.Finish()
	if p.FreeHeld(); !faults(&view[100]) || p.Stats().UnusableBytes > 8<<10 {
		t.Errorf("it is there after the stream: %+v", p.Stats())
	}
	checkNoneOut(t, p)
}

// A part off the heap of at most 4 KiB of memory is not found, as its buffer is not: the
// block stays out for good.
func TestForgottenPartOfASmallBlock(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "slab"})
	b := mustGet(t, p, 1000)
	forgetPart(t, b, nil)
	mustRelease(t, b)
	cycle()
	cycle()
	if s := p.Stats(); s.Forgotten != 0 || s.ActiveBlocks != 1 {
		t.Errorf("%+v", s)
	}
}

// On the Go heap a view of a forgotten part keeps the memory, whoever was released. Without
// it all comes back, and Forgotten counts the handles.
func TestForgottenPartOnTheHeap(t *testing.T) {
	for _, released := range []bool{true, false} {
		for _, size := range []int{100, 5000, 100 << 10} {
			t.Run(fmt.Sprintf("%d bytes, released %v", size, released), func(t *testing.T) {
				pools := poolsOn(t, "heap")
				views := make([][]byte, len(pools))
				for i, p := range pools {
					forgetOne(t, p, size, func(b PooledBuffer) {
						forgetPart(t, b, func(c PooledBuffer) { views[i] = c.Bytes()[size/2-1:] })
						forgetPart(t, b, nil)
						if released {
							mustRelease(t, b)
						}
					})
					views[i][0] = 0xA5
				}
				for range 3 {
					cycle()
					for _, p := range pools {
						for range 10 {
							overwrite(t, p, size, 0x5A)
						}
					}
				}
				for i, p := range pools {
					if s := p.Stats(); views[i][0] != 0xA5 || s.Forgotten != 0 || s.ActiveBlocks != 1 {
						t.Fatalf("%v: the view was overwritten: %+v", p, s)
					}
					p.FreeHeld() // cached blocks of the same slab
				}
				views = nil
				want := int64(2)
				if !released {
					want = 3
				}
				collectAll(t, pools, func(s Stats) bool { return s.Forgotten == want && s.ActiveBlocks == 0 })
				for _, p := range pools {
					checkNoneOut(t, p)
				}
			})
		}
	}
}

// A part keeps the memory of the Go heap by its handle alone, an empty one, too.
func TestHandleOfAPartKeepsTheHeap(t *testing.T) {
	for _, empty := range []bool{false, true} {
		p := openPool(t, "heap", Config{Strategy: "exact"})
		var c PooledBuffer
		forgetOne(t, p, 5000, func(b PooledBuffer) {
			c = mustSlice(t, b, 10, 20)
			if empty {
				b := c
				c = mustSlice(t, b, 10, 10)
				mustRelease(t, b)
			}
		})
		cycle()
		cycle()
		if s := p.Stats(); s.Forgotten != 0 || s.ActiveBlocks != 1 {
			t.Errorf("empty %v: %+v", empty, s)
		}
		mustRelease(t, c)
		c = PooledBuffer{}
		if !collect(p, func(s Stats) bool { return s.Forgotten == 1 && s.ActiveBlocks == 0 }) {
			t.Errorf("empty %v: %+v", empty, p.Stats())
		}
	}
}

// With report, forgotten parts are listed with the place of their Slice.
func TestReportListsForgottenParts(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "sim"} {
		p := openPool(t, dev, Config{OnForget: "report"})
		func() { // the last handle is a part
			b := mustGet(t, p, 100)
			forgetPart(t, b, nil)
			mustRelease(t, b)
		}()
		if !collect(p, func(s Stats) bool { return s.Forgotten == 1 && s.ActiveBlocks == 0 }) {
			t.Fatalf("%s: %+v", dev, p.Stats())
		}
		n := 0
		for _, l := range p.Leaks() {
			if l.Bytes == 50 && l.Forgotten {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %+v", dev, p.Leaks())
		}
	}
	p := openPool(t, "mmap", Config{OnForget: "report"})
	b := mustGet(t, p, 100)
	forgetPart(t, b, nil)
	if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
		t.Fatalf("%+v", p.Stats())
	}
	if l := p.Leaks(); len(l) != 2 || l[0].Forgotten || l[0].Bytes != 100 || !l[1].Forgotten || l[1].Bytes != 50 {
		t.Errorf("%+v", l)
	}
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// A buffer of GetBytes has parts, too, and its Put minds those that were forgotten.
func TestPutMindsForgottenParts(t *testing.T) {
	for _, escaped := range []bool{false, true} {
		p := openPool(t, "mmap", Config{Strategy: "exact"})
		m, err := p.GetBytes(100 << 10)
		if err != nil {
			t.Fatal(err)
		}
		func() {
			b, _ := p.Lookup(m)
			forgetPart(t, b, func(c PooledBuffer) {
				if escaped {
					c.Bytes()
				}
			})
		}()
		if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
			t.Fatalf("%+v", p.Stats())
		}
		if err := p.Put(m); err != nil || faults(&m[0]) != escaped {
			t.Errorf("escaped %v: %v", escaped, err)
		}
		checkNoneOut(t, p)
	}
}

// Forgotten parts of released buffers do not use up a budget: a Get that has no room looks
// for them.
func TestBudgetOutlastsForgottenParts(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "sim"} {
		for _, s := range []string{"exact", "sizeclass", "slab"} {
			p := openPool(t, dev, Config{Strategy: s, MaxBytes: 4 << 20})
			n := long(t, 100)
			for i := range n {
				b, err := p.Get(100_000)
				if err != nil {
					t.Fatalf("%s, %s: Get %d: %v, %+v", dev, s, i, err, p.Stats())
				}
				forgetPart(t, b, func(c PooledBuffer) { c.Bytes() })
				mustRelease(t, b)
			}
			if s := p.Stats(); s.ActiveBlocks+s.Forgotten != int64(n) {
				t.Errorf("%s: %+v", dev, s)
			}
		}
	}
}
