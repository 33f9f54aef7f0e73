package pageheap

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// The number of a span is gone with its extent.
func TestASpanLastsUntilFree(t *testing.T) {
	p := start(&pages{RangeBytes: 64 * page}, Options{})
	p.Lock()
	defer p.Unlock()
	for range 2 {
		i, err := p.Heap.Alloc(100)
		if err != nil {
			t.Fatal(err)
		}
		if n := p.Span(i); n != 0 {
			t.Errorf("a new extent has span %d", n)
		}
		p.SetSpan(i, 7)
		if n := p.Span(i); n != 7 {
			t.Errorf("span %d", n)
		}
		p.Heap.Free(i)
	}
}

// What a lost device does not take back is gone all the same, and managed no more.
func TestALostDeviceTakesEverything(t *testing.T) {
	up := &pages{RangeBytes: 64 * page}
	p := start(up, Options{})
	live := fill(t, p, 20)
	up.Fail = fmt.Errorf("gone: %w", device.ErrDeviceLost)
	p.freeAll(live)
	if p.FreeHeld(); p.managed != 0 || p.index[free].bytes != 0 {
		t.Errorf("%d bytes managed, %d free", p.managed, p.index[free].bytes)
	}
}

// FreeBlock frees the extent that is exactly the block, as it was asked for, and no span.
func TestFreeBlockIsOfTheExactBlock(t *testing.T) {
	p, _ := onRange()
	b := p.mustAlloc(t, 100)
	next := p.mustAlloc(t, 100)
	i, _ := p.Locate(b, 0)
	for name, c := range map[string]struct {
		b     device.Block
		guess int32
	}{
		"shorter":                {device.Block{Region: b.Region, Off: b.Off, Len: 99}, i},
		"longer":                 {device.Block{Region: b.Region, Off: b.Off, Len: 112}, none},
		"within":                 {device.Block{Region: b.Region, Off: b.Off + 4, Len: 100}, none},
		"another block's extent": {next, i},
		"no extent":              {b, int32(len(p.records))},
		"memory beyond":          {device.Block{Region: b.Region, Off: next.Off + 112, Len: 100}, none},
	} {
		if p.FreeBlock(c.b, c.guess) {
			t.Errorf("%s: freed", name)
		}
	}
	p.SetSpan(i, 1)
	if p.FreeBlock(b, i) {
		t.Error("a span is freed")
	}
	p.SetSpan(i, 0)
	if !p.FreeBlock(b, none) || p.FreeBlock(b, none) || !p.FreeBlock(next, none) {
		t.Error("two blocks are not freed once each")
	}
	if err := p.check(); err != nil {
		t.Error(err)
	}
}
