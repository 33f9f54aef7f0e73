package pageheap

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// allocAt is alloc at an offset of the first segment; false if that is not free.
func (p *program) allocAt(off, size int) (device.Block, bool) {
	p.Lock()
	defer p.Unlock()
	i := p.AllocAt(off, size)
	if i == none {
		return device.Block{}, false
	}
	p.Grew(size)
	p.active += int64(size)
	return p.Block(i, 0, size), true
}

// isFree looks at all extents of the first segment for n free bytes from off on.
func (p *program) isFree(off, n int) bool {
	if off < 0 || len(p.segs) == 0 {
		return false
	}
	for i := p.segs[0].end; i != none; i = p.at(i).prev {
		if x := p.at(i); x.state == free && x.off <= off && n <= x.off+x.len-off {
			return true
		}
	}
	return false
}

// A block is where it was wanted if and only if that place is free, in ranges and segments,
// beside all else that a heap does.
func TestAllocAtTakesThePlacesThatAreFree(t *testing.T) {
	for seed := range uint64(12) {
		up := &pages{Source: source{Capacity: 900_000}, RangeBytes: 256 << 10}
		p := start(on(up, seed%2 == 0), Options{})
		r := rand.New(rand.NewPCG(seed, 8))
		if seed%3 == 0 {
			if err := p.Prefill(200 << 10); err != nil {
				t.Fatal(err)
			}
		}
		var live []device.Block
		hits := 0
		for range 1500 {
			switch k := r.IntN(100); {
			case k < 40:
				off, size := r.IntN(16<<10)*16, 1+r.IntN(1<<r.IntN(15))
				want := p.isFree(off, (size+15)&^15)
				b, ok := p.allocAt(off, size)
				if ok != want || ok && (b.Off != off || b.Len != size) {
					t.Fatalf("seed %d: %d bytes at %d are %+v, %v, want %v", seed, size, off, b, ok, want)
				}
				if ok {
					live = append(live, b)
					hits++
				}
			case k < 55:
				if b, err := p.alloc(1 + r.IntN(1<<r.IntN(15))); err == nil {
					live = append(live, b)
				}
			case k < 97 && len(live) > 0:
				p.free(takeAt(&live, r.IntN(len(live))))
			case k < 98:
				p.FreeHeld()
			}
			p.mustCheck(t, &up.Source)
		}
		if hits < 20 {
			t.Errorf("seed %d: %d blocks only were where they were wanted", seed, hits)
		}
		p.freeAll(live)
		p.StopHolding()
		if p.mustCheck(t, &up.Source); up.Bytes != 0 {
			t.Errorf("%d bytes are left", up.Bytes)
		}
	}
}

func TestAllocAtRefusesOddPlaces(t *testing.T) {
	p := start(&pages{}, Options{Align: 64})
	if i := p.AllocAt(0, 10); i != none {
		t.Error("a place in an empty heap")
	}
	p.mustAlloc(t, 10)
	for _, off := range []int{-64, 32, 65, maxInt/2 + 1, maxInt &^ 63, 0} {
		if i := p.AllocAt(off, 10); i != none {
			t.Errorf("a block at %d", off)
		}
	}
	if i := p.AllocAt(64, 10); i == none {
		t.Error("no block at 64")
	}
}

// A heap is filled once by Prefill, with one call, on ranges and on segments.
func TestPrefillTakesOneCall(t *testing.T) {
	for _, segments := range []bool{false, true} {
		up := &pages{RangeBytes: 4 << 20}
		p := start(on(up, segments), Options{})
		if err := p.Prefill(1<<20 - 5); err != nil {
			t.Fatal(err)
		}
		for range 16 {
			p.mustAlloc(t, 64<<10)
		}
		if p.mustCheck(t, &up.Source); up.Bytes != 1<<20 || up.Calls != 1 || p.PeakUsed() != 1<<20 {
			t.Errorf("%d bytes by %d calls, a peak of %d", up.Bytes, up.Calls, p.PeakUsed())
		}
	}
}

// Reserve makes the first segment as long as asked, with one call: of a heap that is empty, and
// of a range that was used already, if Expect has made it long enough.
func TestReserveReachesUpToItsBytes(t *testing.T) {
	reserve := func(p *program, n int) error {
		p.Lock()
		defer p.Unlock()
		return p.Reserve(n)
	}
	const n = firstRange + 64<<10
	for _, c := range []struct {
		segments, used, expected bool
		ok                       bool
	}{{ok: true}, {segments: true, ok: true}, {used: true}, {used: true, expected: true, ok: true}, {segments: true, used: true, expected: true}} {
		up := &pages{RangeBytes: 1 << 30}
		p := start(on(up, c.segments), Options{})
		if c.expected {
			p.Lock()
			p.Expect(n)
			p.Unlock()
		}
		calls := 1
		if c.used {
			p.mustAlloc(t, 100)
			calls++
		}
		if err := reserve(p, n); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if !c.ok {
			continue
		}
		if b, ok := p.allocAt(n-4096, 4096); !ok || up.Bytes != n || up.Calls != calls {
			t.Errorf("%+v: the last block is %+v; %d bytes by %d calls", c, b, up.Bytes, up.Calls)
		}
		if err := reserve(p, n-5); err != nil || up.Calls != calls { // it has them
			t.Errorf("%+v: %v, %d calls", c, err, up.Calls)
		}
		p.mustCheck(t, &up.Source)
	}
}
