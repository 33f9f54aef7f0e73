package canary

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
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

// A block that Alloc could not paint has no canaries to be verified, and is not poisoned: its memory may have a new owner.
func TestCheckKnowsWhereItPaintedNoCanary(t *testing.T) {
	c := over(&late{})
	b := mustAlloc(t, c, 100)
	m := make([]byte, b.Region.Size())
	b.Region.(*upstreamtest.Region).Mem = m
	if c.Free(b); !bytes.Equal(m, make([]byte, len(m))) {
		t.Errorf("memory became %x", m)
	}
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

// panicked returns what f panics with, "" if it does not.
func panicked(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// A cutting source cuts blocks from regions, behind 32 bytes.
type cutting struct{ *upstreamtest.Source }

func (c cutting) Alloc(size int) (device.Block, error) {
	b, err := c.Source.Alloc(32 + size)
	b.Off, b.Len = 32, size
	return b, err
}

func (c cutting) Free(b device.Block) { c.Source.Free(device.Block{Region: b.Region, Len: 32 + b.Len}) }

// A write beyond a block is told with its side, wherever it is in a canary; the block goes back, and no byte of it is a
// fault.
func TestAWriteBeyondABlockIsTold(t *testing.T) {
	for _, align := range []int{1, 128} {
		up := &upstreamtest.Source{Host: true}
		c := New(cutting{up}, align, slog.Default)
		around := max(64, align)
		for off, side := range map[int]string{
			-around: "before", -1: "before", 0: "", 99: "", 100: "after", 99 + around: "after",
		} {
			b := mustAlloc(t, c, 100)
			whole := device.Block{Region: b.Region, Off: 32, Len: b.Region.Size() - 32}
			if b.Off != 32+around || whole.Len != 100+2*around {
				t.Fatalf("a block at %d of %d bytes", b.Off, whole.Len)
			}
			device.Bytes(whole)[around+off]++
			text := panicked(func() { c.Free(b) })
			if want := "wrote " + side + " a block of 100 bytes, allocated at "; strings.Contains(text, want) != (side != "") || (text == "") != (side == "") {
				t.Errorf("a write at %d: %q", off, text)
			}
		}
		if up.Bytes != 0 || up.Frees != 6 || len(c.Faults()) != 0 {
			t.Errorf("%d bytes are out, %d frees, %q", up.Bytes, up.Frees, c.Faults())
		}
		if n := c.Canaries(3); n != int64(6*around) {
			t.Errorf("%d bytes of canaries around 3 blocks", n)
		}
	}
}

// Nothing is asked of the source for nothing, and what is not out does not go to it.
func TestWhatIsNotOut(t *testing.T) {
	up := &upstreamtest.Source{Host: true}
	c := over(up)
	if b, err := c.Alloc(0); err != nil || b != (device.Block{}) || up.Calls != 0 {
		t.Errorf("%+v of 0 bytes, %v", b, err)
	}
	c.Free(device.Block{})
	b := mustAlloc(t, c, 100)
	c.Free(b)
	if text := panicked(func() { c.Free(b) }); !strings.Contains(text, "a block that is not out") {
		t.Errorf("a second Free: %q", text)
	}
	up.FailAt = up.Calls + 1
	if b, err := c.Alloc(10); !errors.Is(err, device.ErrOutOfMemory) || b != (device.Block{}) {
		t.Errorf("%+v, %v", b, err)
	}
	if c.TakeOut(b, func(device.Block) bool { return true }) {
		t.Error("a block that is not out was taken out")
	}
	if up.Frees != 1 {
		t.Errorf("%d frees", up.Frees)
	}
}

// A block that cannot be taken out of use stays out. A dead canary of it is reported either way.
func TestTakeOut(t *testing.T) {
	up := &upstreamtest.Source{Host: true}
	c := New(up, 1, func() *slog.Logger { return slog.New(slog.DiscardHandler) })
	b := mustAlloc(t, c, 100)
	device.Bytes(device.Block{Region: b.Region, Len: b.Region.Size()})[0]++
	for i, gone := range []bool{false, true} {
		var outer device.Block
		took := c.TakeOut(b, func(x device.Block) bool { outer = x; return gone })
		if took != gone || outer != (device.Block{Region: b.Region, Len: b.Region.Size()}) || len(c.Faults()) != i+1 {
			t.Errorf("%v of %+v, want %v: %q", took, outer, gone, c.Faults())
		}
	}
	c.Flush()
	if text := panicked(func() { c.Free(b) }); text == "" {
		t.Error("it is out still")
	}
}

// What is freed where no caller could recover from a panic is reported, with how it came back if it was written later.
func TestALateFreeIsReported(t *testing.T) {
	up := &hoarder{Source: upstreamtest.Source{Host: true}}
	c := New(up, 1, func() *slog.Logger { return slog.New(slog.DiscardHandler) })
	c.LookAgain()
	b := mustAlloc(t, c, 100)
	c.SetLate(b, "came late")
	c.SetLate(device.Block{Region: b.Region}, "is not out")
	device.Bytes(device.Block{Region: b.Region, Len: b.Region.Size()})[0]++
	c.Free(b)
	if f := c.Faults(); len(f) != 1 || !strings.Contains(f[0], "wrote before") {
		t.Errorf("%q", f)
	}
	outer := up.held[0]
	device.Bytes(outer)[64+7]++
	c.Leave(outer)
	c.Leave(outer) // once
	if f := c.Faults(); len(f) != 2 || !strings.Contains(f[1], "at offset 7 of a block of 100 bytes") || !strings.HasSuffix(f[1], ", came late") {
		t.Errorf("%q", f)
	}
	c.Flush()
}

// A hoarder keeps what is freed, as a strategy does, and hands it out again.
type hoarder struct {
	upstreamtest.Source
	held []device.Block
}

func (h *hoarder) Free(b device.Block) { h.held = append(h.held, b) }

func (h *hoarder) Alloc(size int) (device.Block, error) {
	if n := len(h.held); n > 0 {
		b := h.held[n-1]
		h.held = h.held[:n-1]
		return b, nil
	}
	return h.Source.Alloc(size)
}

// A write into a free block is told by the Alloc that gets its memory, and by no later one: that memory goes back.
func TestAWriteAfterFreeIsTold(t *testing.T) {
	up := &hoarder{Source: upstreamtest.Source{Host: true}}
	c := over(up)
	c.LookAgain()
	b := mustAlloc(t, c, 100)
	m := device.Bytes(b)
	c.Free(b)
	b = mustAlloc(t, c, 100) // as it was left
	c.Free(b)
	m[5]++
	text := panicked(func() { mustAlloc(t, c, 100) })
	if !strings.Contains(text, "at offset 5 of a block of 100 bytes while it was free: allocated at ") || !strings.Contains(text, ", released at ") {
		t.Errorf("%q", text)
	}
	if len(up.held) != 1 {
		t.Fatalf("%d blocks went back", len(up.held))
	}
	b = mustAlloc(t, c, 100)
	if !bytes.Equal(device.Bytes(b), bytes.Repeat([]byte{poison.Freed}, 100)) {
		t.Error("a block is not poisoned")
	}
	c.Free(b)
}

// A block that the source would not take is out, and may be freed again.
func TestABlockThatTheSourceWouldNotTake(t *testing.T) {
	up := &upstreamtest.Source{Host: true}
	c := over(up)
	c.LookAgain()
	b := mustAlloc(t, c, 100)
	up.Before = func(string) error { panic("no") }
	for range 2 {
		if text := panicked(func() { c.Free(b) }); text != "no" {
			t.Errorf("%q", text)
		}
	}
	up.Before = nil
	c.Free(b)
	if up.Frees != 1 || up.Bytes != 0 {
		t.Errorf("%d frees, %d bytes are out", up.Frees, up.Bytes)
	}
}

// The list of faults has an end; a nil Check has found nothing.
func TestFaultsHaveAnEnd(t *testing.T) {
	c := New(nil, 1, func() *slog.Logger { return slog.New(slog.DiscardHandler) })
	for i := range MaxFaults + 2 {
		c.Report(fmt.Sprint(i))
	}
	c.Flush()
	if f := c.Faults(); len(f) != MaxFaults || f[MaxFaults-1] != fmt.Sprint(MaxFaults-1) {
		t.Errorf("%d faults, the last is %s", len(f), f[len(f)-1])
	}
	c = nil
	c.Flush()
	c.SetLate(device.Block{}, "")
	if c.Faults() != nil {
		t.Error("a nil Check has found something")
	}
}
