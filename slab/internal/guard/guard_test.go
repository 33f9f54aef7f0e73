package guard

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/poison"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// opened returns a Guard of each Get over a source, and what it has reported.
func opened(t *testing.T, on device.Allocator, o Options) (*Guard, *[]Fault) {
	var list []Fault
	o.Align, o.Report = 16, func(f Fault) { list = append(list, f) }
	return New(upstream.Check(on, true, 16), o), &list
}

func alloc(t *testing.T, g *Guard, size int) device.Block {
	t.Helper()
	b, ok := g.Alloc(size)
	if !ok {
		t.Fatalf("%d bytes are not guarded", size)
	}
	return b
}

func heap(t *testing.T) device.Device { return check.Ok(device.Open("heap"))(t) }

// What counts for a view are the collections that were heard of after the Release, not how
// often the Guard looks.
func TestAViewIsToldAfterCollections(t *testing.T) {
	g, found := opened(t, heap(t), Options{Every: 1})
	b := alloc(t, g, 100)
	b.Region.(device.Collected).Watch(func() {})
	view := device.Bytes(b)
	for range 10 {
		g.Tick()
	}
	g.Free(b)
	for range patience {
		g.Look()
		g.Look()
		if len(*found) != 0 {
			t.Fatalf("%+v", *found)
		}
		g.Tick()
	}
	g.Look()
	g.Look()
	if len(*found) != 1 || !(*found)[0].View {
		t.Errorf("%+v", *found)
	}
	runtime.KeepAlive(view)
}

// However many collections there were, a view may outlive its buffer for a while.
func TestAViewMayLinger(t *testing.T) {
	for linger, want := range map[time.Duration]int{time.Hour: 0, 0: 1} {
		g, found := opened(t, heap(t), Options{Every: 1, Linger: linger})
		b := alloc(t, g, 100)
		b.Region.(device.Collected).Watch(func() {})
		view := device.Bytes(b)
		g.Free(b)
		for range 100 {
			g.Tick()
			g.Look()
		}
		if len(*found) != want {
			t.Errorf("within %v: %+v", linger, *found)
		}
		runtime.KeepAlive(view)
	}
}

// A write is told when the bytes go back, with its offset.
func TestAWriteIsTold(t *testing.T) {
	g, found := opened(t, heap(t), Options{Every: 1})
	for _, at := range []int{0, 4095, 4096, 9999} {
		*found = nil
		b := alloc(t, g, 10_000)
		view := device.Bytes(b)
		g.Free(b)
		view[at]++
		if g.FreeHeld(); len(*found) != 1 || (*found)[0].Off != at || (*found)[0].View {
			t.Errorf("the write at %d: %+v", at, *found)
		}
	}
}

// What the upstream would not take is withheld, and goes the next time, once.
func TestWithholdsWhatTheUpstreamWouldNotTake(t *testing.T) {
	up := &stubborn{Source: &upstreamtest.Source{Host: true}}
	g, found := opened(t, up, Options{Every: 1})
	b := alloc(t, g, 1000)
	g.Free(b)
	up.refuses = true
	check.Panics(t, "FreeHeld", g.FreeHeld)
	if u := g.Usage(); u.Withheld != g.up.Footprint(b) || up.Frees != 0 {
		t.Errorf("%+v, %d frees", u, up.Frees)
	}
	up.refuses = false
	if g.FreeHeld(); g.Usage() != (Usage{}) || up.Frees != 1 || len(*found) != 0 {
		t.Errorf("%+v, %d frees, %+v", g.Usage(), up.Frees, *found)
	}
	check.Panics(t, "a second Free", func() { g.Free(b) })
}

type stubborn struct {
	*upstreamtest.Source
	refuses bool
}

func (s *stubborn) Free(b device.Block) {
	if s.refuses {
		panic("no")
	}
	s.Source.Free(b)
}

// The oldest goes when there are too many blocks or bytes.
func TestBounds(t *testing.T) {
	up := &upstreamtest.Source{Host: true}
	g, _ := opened(t, up, Options{Every: 1})
	for n, size := range map[int]int{mostBlocks: 100, mostBytes / longest: longest} {
		for range 2 * n {
			g.Free(alloc(t, g, size))
		}
		if len(g.withheld) != n {
			t.Errorf("%d of %d bytes, not %d", len(g.withheld), size, n)
		}
		g.FreeHeld()
	}
	if _, ok := g.Alloc(longest + 1); ok || up.Bytes != 0 {
		t.Errorf("%v, %d bytes are left", ok, up.Bytes)
	}
	if g.Stop(); len(g.withheld) != 0 {
		t.Error("something is left")
	}
	if _, ok := g.Alloc(100); ok {
		t.Error("a stopped Guard draws")
	}
}

// Blocks that are out when a Guard stops go upstream when they come back.
func TestStop(t *testing.T) {
	up := &upstreamtest.Source{Host: true}
	g, _ := opened(t, up, Options{Every: 1})
	b := alloc(t, g, 100)
	g.Stop()
	if g.Free(b); up.Bytes != 0 || g.Usage() != (Usage{}) {
		t.Errorf("%+v, %d bytes are left", g.Usage(), up.Bytes)
	}
}

// One in Every is drawn, of long ones fewer, and in a turn all that are short.
func TestDraw(t *testing.T) {
	begun, ended := 0, 0
	g, _ := opened(t, heap(t), Options{Every: 100, Begin: func() { begun++ }, End: func() { ended++ }})
	drawn := func(n, size int) (of int) {
		for range n {
			if g.draw(size) {
				of++
			}
		}
		return of
	}
	if n := drawn(100_000, cheap); n < 700 || n > 1300 {
		t.Errorf("%d of 1,000", n)
	}
	if n := drawn(1_000_000, 10*cheap); n < 700 || n > 1300 {
		t.Errorf("%d long ones of 1,000", n)
	}
	if g.TurnIfDue(turnDraws*100 - 1); begun != 0 || g.InTurn() {
		t.Error("a turn began early")
	}
	if g.TurnIfDue(turnDraws * 100); begun != 1 || !g.InTurn() {
		t.Error("no turn began")
	}
	if g.TurnIfDue(turnDraws * 200); begun != 1 {
		t.Error("a turn began within another")
	}
	if g.draw(longest+1) || !g.InTurn() {
		t.Error("one that is too long was drawn, or ended the turn")
	}
	if drawn(turn-1, 100) != turn-1 || g.InTurn() || ended != 1 {
		t.Errorf("a turn has ended %d times", ended)
	}
	if g.TurnIfDue(turnDraws*200 - 1); begun != 1 {
		t.Error("the next turn began early")
	}
	if g.TurnIfDue(turnDraws * 200); begun != 2 {
		t.Error("no turn began after one that was over")
	}
}

// A collection that comes while a turn begins begins no other: each Begin has an End.
func TestATurnBeginsOnce(t *testing.T) {
	var g *Guard
	begun, ended := 0, 0
	g, _ = opened(t, heap(t), Options{Every: 1, End: func() { ended++ }, Begin: func() {
		if begun++; begun == 1 {
			g.TurnIfDue(2 * turnDraws)
		}
	}})
	g.TurnIfDue(turnDraws)
	for range 2 * turn {
		g.draw(100)
	}
	if begun != 1 || ended != 1 {
		t.Errorf("begun %d times, ended %d times", begun, ended)
	}
}

// Memory that the CPU cannot reach is asked for once.
func TestUnreachableMemoryIsNotGuarded(t *testing.T) {
	up := &upstreamtest.Source{}
	g, _ := opened(t, up, Options{Every: 1})
	for range 3 {
		if _, ok := g.Alloc(100); ok {
			t.Error("it is guarded")
		}
	}
	if up.Allocs != 1 || up.Bytes != 0 {
		t.Errorf("%d calls, %d bytes are left", up.Allocs, up.Bytes)
	}
}

// A fault elsewhere is not of a block that is withheld and can still be read.
func TestAFaultElsewhereIsOfNone(t *testing.T) {
	g, _ := opened(t, heap(t), Options{Every: 1})
	b := alloc(t, g, 100)
	view := device.Bytes(b)
	g.Free(b)
	if len(g.withheld) != 1 {
		t.Fatalf("%d blocks are withheld", len(g.withheld))
	}
	for _, addr := range []uintptr{1, uintptr(unsafe.Pointer(&view[1]))} {
		if f, ok := g.At(addr); ok {
			t.Errorf("address %#x is of %+v", addr, f)
		}
	}
}

// A block whose view the collector has just found gone is the last that goes: its bytes cannot be
// read until its region has them back.
func TestAFoundBlockIsTheLastChoice(t *testing.T) {
	g, found := opened(t, heap(t), Options{Every: 1})
	first := alloc(t, g, 100)
	g.Free(first)
	b := alloc(t, g, 100)
	view := device.Bytes(b)
	g.Free(b)
	for device.Bytes(first) != nil { // no one watches it: it does not come back by itself
		runtime.GC()
	}
	for _, want := range []device.Block{b, first} {
		k := g.oldest()
		if k.Block != want {
			t.Errorf("a block at %p goes, not that at %p", k.Region, want.Region)
		}
		g.giveBack(k)
	}
	if g.oldest() != nil || len(*found) != 0 {
		t.Errorf("%+v", *found)
	}
	runtime.KeepAlive(view)
}

// What is out counts with its rounding, and after the release as the bytes that it takes upstream.
func TestUsageSaysWhereBytesAre(t *testing.T) {
	up := &upstreamtest.Source{Host: true, Round: 4096}
	g, _ := opened(t, up, Options{Every: 1})
	for _, size := range []int{0, -1} {
		if _, ok := g.Alloc(size); ok {
			t.Errorf("%d bytes are guarded", size)
		}
	}
	a, b := alloc(t, g, 100), alloc(t, g, 112)
	if want := (Usage{ActiveBlocks: 2, ActiveBytes: 224, RoundingBytes: 8192 - 224}); g.Usage() != want {
		t.Errorf("%+v, want %+v", g.Usage(), want)
	}
	g.Free(a)
	if want := (Usage{1, 112, 4096 - 112, 4096}); g.Usage() != want || g.Count() != 1 {
		t.Errorf("%+v, want %+v; %d were withheld", g.Usage(), want, g.Count())
	}
	g.Free(b)
	g.FreeHeld()
	if g.Usage() != (Usage{}) || g.Count() != 2 || up.Bytes != 0 {
		t.Errorf("%+v, %d were withheld, %d bytes are left", g.Usage(), g.Count(), up.Bytes)
	}
	up.Capacity = 1
	if _, ok := g.Alloc(100); ok || g.Usage() != (Usage{}) {
		t.Errorf("%v without room, %+v", ok, g.Usage())
	}
}

// A nil Guard has nothing, and nothing to do.
func TestANilGuard(t *testing.T) {
	var g *Guard
	g.Tick()
	g.FreeHeld()
	g.Stop()
	if g.InTurn() || g.Usage() != (Usage{}) {
		t.Errorf("%v, %+v", g.InTurn(), g.Usage())
	}
}

// A block that is taken out of use goes with its region; where the region refuses, or is not the block's own, it stays out.
func TestQuarantine(t *testing.T) {
	for _, own := range []bool{true, false} {
		up := &upstreamtest.Source{Host: true}
		g := New(upstream.Check(up, own, 16), Options{Every: 1, Align: 16})
		b := alloc(t, g, 100)
		r := upstreamtest.RegionOf(b)
		r.Refuse = device.ErrUnavailable
		if g.Quarantine(b, Extent) || g.Usage().ActiveBlocks != 1 {
			t.Errorf("own %v: gone, though the region refused; %+v", own, g.Usage())
		}
		r.Refuse = nil
		if g.Quarantine(b, Extent) != own || g.Usage().ActiveBlocks == 1 == own || up.Bytes == 0 != own {
			t.Errorf("own %v: %+v, %d bytes are left", own, g.Usage(), up.Bytes)
		}
	}
}

// Of a block that is no region of its own the bytes are filled, and no more: others have the rest of the region.
func TestABlockOfASharedRegion(t *testing.T) {
	for _, up := range []device.Allocator{heap(t), &upstreamtest.Source{Host: true}} {
		g := New(upstream.Check(up, false, 16), Options{Every: 1, Align: 16})
		b := alloc(t, g, 1)
		g.Free(b)
		if k := g.withheld[0]; k.closed || k.isWatched() || poison.Unlike(device.Bytes(b), poison.Freed) >= 0 {
			t.Errorf("%T: closed %v, watched %v, bytes %x", up, k.closed, k.isWatched(), device.Bytes(b))
		}
	}
}

// Of a region whose views are gone the block goes upstream, once; other regions have none.
func TestFoundGivesBack(t *testing.T) {
	g, found := opened(t, heap(t), Options{Every: 1})
	a, b := alloc(t, g, 100), alloc(t, g, 100)
	g.Free(a)
	g.Free(b)
	for range 2 {
		g.Found(a.Region)
	}
	g.Found(upstreamtest.NewRegion(100))
	if len(g.withheld) != 1 || g.withheld[0].Block != b || len(*found) != 0 {
		t.Errorf("%d are withheld, %+v", len(g.withheld), *found)
	}
}

// The pages of a block that was released are inaccessible, and an address in them is of that block, with the stacks of
// its Get and its Release.
func TestAnAddressIsOfItsBlock(t *testing.T) {
	g, _ := opened(t, check.Ok(device.Open("mmap"))(t), Options{Every: 1})
	other, b := alloc(t, g, 100), alloc(t, g, 5000)
	m := b.Region.(device.HostRegion).Bytes()
	at, n := uintptr(unsafe.Pointer(unsafe.SliceData(m))), uintptr(b.Region.Size())
	if _, ok := g.At(at); ok {
		t.Error("a block that is out is found")
	}
	g.Free(b)
	g.Free(other)
	if c := alloc(t, g, 100).Region; !g.withheld[0].closed && c.(device.Quarantiner).Quarantine(0, c.Size()) != nil {
		t.Skip("pages stay accessible here")
	}
	for _, off := range []uintptr{0, 1, 4999, n - 1} {
		f, ok := g.At(at + off)
		if !ok || f.Off != int(off) || f.Len != b.Len || f.View || first(f.Got) != "Alloc" || first(f.Released) != "Free" {
			t.Errorf("byte %d is of %+v, %v, got by %s and released by %s", off, f, ok, first(f.Got), first(f.Released))
		}
	}
	for _, addr := range []uintptr{at - 1, at + n} {
		if f, ok := g.At(addr); ok && f.Len == b.Len {
			t.Errorf("byte %d of %d is of %+v", int(addr-at), n, f)
		}
	}
	g.FreeHeld()
}

// first returns the name of the method that is first in a stack.
func first(stack []uintptr) string {
	f, _ := runtime.CallersFrames(stack).Next()
	return f.Function[strings.LastIndex(f.Function, ".")+1:]
}
