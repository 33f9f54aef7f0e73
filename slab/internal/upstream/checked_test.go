package upstream

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// aligned returns a region of n bytes that begin off bytes after a multiple of 64.
func aligned(t *testing.T, n, off int) device.Region {
	t.Helper()
	d, err := device.Open("mmap")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(n + off)
	if err != nil {
		t.Fatal(err)
	}
	r := upstreamtest.NewRegion(n)
	r.Mem = device.Bytes(b)[off:]
	return r
}

func TestABlockAgainstTheContractGoesBack(t *testing.T) {
	odd := aligned(t, 100, 8)
	for _, c := range []struct {
		b     device.Block
		fault string
		frees int
	}{
		{device.Block{Len: 100}, "no region", 0},
		{device.Block{Region: upstreamtest.NewRegion(100), Len: 99}, "a block of 99 bytes", 1},
		{device.Block{Region: upstreamtest.NewRegion(200), Len: 101}, "a block of 101 bytes", 1},
		{device.Block{Region: upstreamtest.NewRegion(100), Off: 1, Len: 100}, "a region of 100 bytes, offset 1", 1},
		{device.Block{Region: upstreamtest.NewRegion(200), Off: -1, Len: 100}, "a region of 200 bytes, offset -1", 1},
		{device.Block{Region: odd, Len: 100}, "an address that is no multiple of 16", 1},
		{device.Block{Region: aligned(t, 100, 1), Len: 100}, "an address that is no multiple of 16", 1},
	} {
		s := &upstreamtest.Fixed{Block: c.b}
		b, err := Check(s, true, 16).Alloc(100)
		if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), c.fault) || b != (device.Block{}) || s.Frees != c.frees {
			t.Errorf("%v, %+v, %d given back; want %s", err, b, s.Frees, c.fault)
		}
	}
}

func TestAGoodBlockPassesAndAnErrorTakesTheBlockAway(t *testing.T) {
	good := device.Block{Region: aligned(t, 100, 0), Len: 100}
	s := &upstreamtest.Fixed{Block: good}
	if b, err := Check(s, true, 64).Alloc(100); b != good || err != nil || s.Frees != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	s.Err = device.ErrOutOfMemory
	if b, err := Check(s, true, 64).Alloc(100); b != (device.Block{}) || !OutOfMemory(err) || s.Frees != 0 {
		t.Errorf("%+v, %v", b, err)
	}
}

// passing is a layer that draws on c, and vouches for as much.
type passing struct {
	Voucher
	c Checked
}

func (p passing) Alloc(size int) (device.Block, error) { return p.c.Alloc(size) }
func (p passing) Free(b device.Block)                  { p.c.Free(b) }

// However many layers are above each other, one of them verifies.
func TestABlockIsVerifiedOnceInAStack(t *testing.T) {
	r := upstreamtest.NewRegion(100)
	s := &upstreamtest.Fixed{Block: device.Block{Region: r, Len: 100}}
	c := Check(s, true, 16)
	for layers := range 4 {
		r.Measured.Store(0)
		if _, err := c.Alloc(100); err != nil || r.Measured.Load() != 1 {
			t.Errorf("%d layers: %v, verified %d times", layers, err, r.Measured.Load())
		}
		c = Check(passing{c.Voucher(), c}, true, 8)
	}
	r.Measured.Store(0)
	stricter := Check(passing{Vouch(), c}, true, 4096)
	if _, err := stricter.Alloc(100); err != nil || r.Measured.Load() != 2 {
		t.Errorf("%v, verified %d times where more is wanted than vouched for", err, r.Measured.Load())
	}
	if v := VoucherOf(s); v.align != 0 || v.giveUp != nil {
		t.Errorf("a foreign source vouches: %+v", v)
	}
}

// An asked notes whether it was asked for an aligned block.
type asked struct {
	upstreamtest.Fixed
	align int
}

func (a *asked) AllocAligned(size, align int) (device.Block, error) {
	a.align = align
	return a.Block, nil
}

// A source is told of an alignment that not every device gives of itself: of more than 16, also where the size is a
// multiple of it, as drivers of OpenCL align no page.
func TestASourceIsToldOfAlignments(t *testing.T) {
	for _, c := range []struct {
		align, size int
		told        bool
	}{
		{8, 5, false}, {16, 17, false}, {16, 32, false},
		{32, 40, true}, {64, 64, true}, {64, 65, true}, {64, 66, true}, {64, 128, true},
		{4096, 4096, true}, {4096, 4097, true}, {8192, 8192, true},
	} {
		s := &asked{Fixed: upstreamtest.Fixed{Block: upstreamtest.Block(c.size)}}
		want := 0
		if c.told {
			want = c.align
		}
		if _, err := Check(s, true, c.align).Alloc(c.size); err != nil || s.align != want {
			t.Errorf("%d bytes at a multiple of %d: the source is asked for %d, %v", c.size, c.align, s.align, err)
		}
	}
}

// More alignment than a layer vouches for is verified; as much is not.
func TestAnAlignmentBeyondTheVoucherIsVerified(t *testing.T) {
	r := aligned(t, 100, 64).(*upstreamtest.Region)
	s := &upstreamtest.Fixed{Block: device.Block{Region: r, Len: 100}}
	c := Check(passing{Voucher{align: 64}, Check(s, true, 64)}, true, 16)
	for align, want := range map[int]int64{16: 1, 64: 1, 4096: 2} { // the layer below verifies each
		r.Measured.Store(0)
		_, err := c.AllocAligned(100, align)
		if n := r.Measured.Load(); n != want || errors.Is(err, ErrUpstream) != (align == 4096) {
			t.Errorf("a multiple of %d: verified %d times, %v", align, n, err)
		}
	}
}

// Pages are given up by the source that counts them, else by their region. What cannot is not.
func TestWhoGivesUp(t *testing.T) {
	var told int64
	counts := Vouch().ThatGivesUp(func(_ device.Block, n int64) bool { told += n; return true })
	pages := upstreamtest.Block(100)
	r := upstreamtest.RegionOf(pages)
	foreign := &upstreamtest.Fixed{}
	if !GiveUp(passing{counts, Checked{}}, pages, 7) || told != 7 || r.Lost != 0 {
		t.Errorf("%d bytes of the source's count, %d of the region's", told, r.Lost)
	}
	if !GiveUp(foreign, pages, 7) || !GiveUp(passing{Vouch(), Checked{}}, pages, 7) || r.Lost != 200 {
		t.Errorf("%d bytes of the region", r.Lost)
	}
	if r.Refuse = device.ErrUnavailable; GiveUp(foreign, pages, 7) {
		t.Error("given up, though the region refused")
	}
	if GiveUp(foreign, device.Block{Region: plain{}, Len: 100}, 7) {
		t.Error("given up by a region that has no quarantine")
	}
}

// A plain region has no quarantine.
type plain struct{}

func (plain) Size() int { return 100 }

// All sizes are asked of an upstream but negative ones and those of no memory.
func TestSizesThatAreAskedFor(t *testing.T) {
	for size, want := range map[int]error{
		-1: device.ErrSize, 0: nil, 1: nil, MaxSize: nil, MaxSize + 1: device.ErrOutOfMemory, math.MaxInt: device.ErrOutOfMemory,
	} {
		err := CheckSize(size)
		if !errors.Is(err, want) || OutOfMemory(err) != (want == device.ErrOutOfMemory) {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
	}
}

func TestFootprintIsTheRegionWhereItIsTheBlocksOwn(t *testing.T) {
	b := device.Block{Region: upstreamtest.NewRegion(4096), Len: 100}
	own, shared := Check(&upstreamtest.Fixed{}, true, 1), Check(&upstreamtest.Fixed{}, false, 1)
	if own.Footprint(b) != 4096 || shared.Footprint(b) != 100 || own.Footprint(device.Block{}) != 0 {
		t.Error("a wrong footprint")
	}
}

func TestReserveOfASourceThatCannotIsUnavailable(t *testing.T) {
	if _, err := Check(&upstreamtest.Fixed{}, true, 1).Reserve(100); !errors.Is(err, device.ErrUnavailable) {
		t.Error(err)
	}
}
