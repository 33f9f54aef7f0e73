package canary

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/poison"
)

func over(up device.Allocator) *Check { return New(up, 1, slog.Default) }

func mustAlloc(t *testing.T, s device.Allocator, size int) device.Block {
	t.Helper()
	b, err := s.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCheckPoisonsWhatComesAndGoes(t *testing.T) {
	c := over(&upstreamtest.Source{Host: true})
	b := mustAlloc(t, c, 100)
	m := device.Bytes(b)
	if !bytes.Equal(m, bytes.Repeat([]byte{poison.Freed}, 100)) {
		t.Errorf("a new block has %x", m)
	}
	device.Fill(m, 7)
	if c.Free(b); !bytes.Equal(m, bytes.Repeat([]byte{poison.Freed}, 100)) {
		t.Errorf("a freed block has %x", m)
	}
}

// The source is not asked for less than nothing.
func TestNegativeSizesAreRefused(t *testing.T) {
	up := &upstreamtest.Source{}
	for _, size := range []int{-1, math.MinInt} {
		if _, err := over(up).Alloc(size); !errors.Is(err, device.ErrSize) || up.Calls != 0 {
			t.Errorf("Alloc(%d): %v, %d calls upstream", size, err, up.Calls)
		}
	}
}

// A late upstream has memory behind a block only after Alloc has returned: as a region
// has that the collector was just finding dead.
type late struct{ upstreamtest.Source }

func (l *late) Alloc(size int) (device.Block, error) {
	l.Host = false
	return l.Source.Alloc(size)
}

// A block that Alloc could not paint has no canaries to be verified.
func TestCheckKnowsWhereItPaintedNoCanary(t *testing.T) {
	c := over(&late{})
	b := mustAlloc(t, c, 100)
	b.Region.(*upstreamtest.Region).Mem = make([]byte, b.Region.Size())
	c.Free(b)
}

// The oldest of too many freed blocks are forgotten, and no more.
func TestCheckRemembersTheLastFreedBlocks(t *testing.T) {
	f := &freed{parts: map[device.Region][]part{}}
	r := mustAlloc(t, &upstreamtest.Source{}, 100*(maxFreed+2)).Region
	for i := range maxFreed + 2 {
		f.add(r, part{100 * i, 100*i + 100, &history{}})
	}
	if got := f.cut(device.Block{Region: r, Len: r.Size()}); len(got) != maxFreed || got[0].off != 200 {
		t.Errorf("%d parts from %d on", len(got), got[0].off)
	}
	if len(f.parts) != 0 {
		t.Errorf("%d regions are left", len(f.parts))
	}
}
