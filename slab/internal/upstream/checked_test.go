package upstream

import (
	"errors"
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
