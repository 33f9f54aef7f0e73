package handle

import (
	"runtime"
	"testing"
	"unsafe"
)

// A part is a slot of n bytes at off of another, on its own generation; the last of all
// handles has to recycle the root, in any order.
func TestPartsPinTheirRoot(t *testing.T) {
	for _, rootFirst := range []bool{false, true} {
		table, _ := openTable(1000)
		root := attach(table, newRegion(), 500)
		gen := root.Lend(100)
		var mem [100]byte
		root.Pin(gen)
		e, ok := root.Part(unsafe.Pointer(&mem), 10, 50)
		root.Unpin()
		p := e.Slot
		if !ok || e.Mem != unsafe.Pointer(&mem[10]) || !p.IsPart() || root.IsPart() || p.Root() != root || p.Len() != 50 {
			t.Fatalf("%v, %+v", ok, e)
		}
		sub, _ := p.Part(e.Mem, 5, 20)
		if b := sub.Slot.Block(20); b.Off != 515 || sub.Slot.Root() != root || sub.Mem != unsafe.Pointer(&mem[15]) {
			t.Errorf("%+v, %+v", b, sub)
		}
		if rootFirst {
			if won, idle := root.EndPinned(gen); !won || idle {
				t.Errorf("won %v, idle %v", won, idle)
			}
		}
		for _, p := range []*Slot{p, sub.Slot} {
			if !p.End(p.Lend(p.Len())) {
				t.Error("a part does not end")
			}
			if e, last := p.EndPart(); last != (rootFirst && p == sub.Slot) || e.Slot != root || e.Mem != unsafe.Pointer(&mem) {
				t.Errorf("root first %v: last %v, %+v", rootFirst, last, e)
			}
		}
		if ended := root.End(gen); ended == rootFirst || root.Lend(100) != gen+nextGen {
			t.Errorf("root first %v: ended %v, word %#x", rootFirst, ended, root.Lend(100))
		}
	}
}

// What is stray stays so until the last handle has gone, and no longer.
func TestStray(t *testing.T) {
	s := newSlot()
	for _, pinned := range []bool{false, true} {
		gen := s.Lend(100)
		s.Pin(gen)
		s.SetStray()
		if pinned {
			s.EndPinned(gen)
		}
		if last := s.Unpin(); last != pinned {
			t.Errorf("pinned %v: last %v", pinned, last)
		}
		if !pinned {
			if s.End(gen) {
				t.Error("the short way out does not see it")
			}
			if won, idle := s.EndPinned(gen); !won || !idle {
				t.Errorf("won %v, idle %v", won, idle)
			}
		}
		if !s.TakeStray() || s.TakeStray() || s.Lend(100) != gen+nextGen {
			t.Errorf("pinned %v: word %#x", pinned, s.Lend(100))
		}
	}
}

// On the Go heap the parts of a dead region were all forgotten with it. The owner counts if it has
// not released the buffer.
func TestPartsDieWithTheirRegion(t *testing.T) {
	for _, released := range []bool{false, true} {
		table, l := openTable(0)
		r := collected{newRegion()}
		s := attach(table, r, 0)
		gen := s.Lend(100)
		for range 3 {
			s.Pin(gen) // as a part does
		}
		if released {
			s.EndPinned(gen)
		}
		r.lost()
		want := 3
		if released {
			want = 2
		}
		if len(l.forgotten) != 1 || len(l.freed) != 1 || l.parts != want || s.Lend(100) != gen+nextGen {
			t.Errorf("released %v: %d forgotten, %d parts, %v freed, word %#x", released, len(l.forgotten), l.parts, l.freed, s.Lend(100))
		}
	}
}

// Off the heap a forgotten part unpins its root. Was the root released, the block comes
// back; after an Escape it is isolated, also by who releases the root later.
func TestAForgottenPartUnpins(t *testing.T) {
	for _, n := range []int{50, 1, 0} {
		for _, released := range []bool{false, true} {
			testAForgottenPart(t, n, false, false, released)
			testAForgottenPart(t, n, true, n > 0, released) // a slice of 0 bytes reaches nothing
		}
	}
}

func testAForgottenPart(t *testing.T, n int, slice, escaped, released bool) {
	table, l := openTable(1)
	s := attach(table, newRegion(), 0)
	gen := s.Lend(100)
	s.Pin(gen)
	e, _ := s.Part(nil, 0, n)
	e.Slot.Lend(n)
	s.Unpin()
	if slice {
		e.Slot.Escape()
	}
	if released {
		s.EndPinned(gen)
	}
	runtime.SetFinalizer(e.Slot.part(), nil) // the runtime has removed it when it runs
	table.onPartDead(e.Slot)
	table.onPartDead(e.Slot) // a part that has ended
	if released {
		if len(l.freed) == 0 != escaped || len(l.isolated) == 0 == escaped || l.parts != 0 || len(l.forgotten) != 1 {
			t.Errorf("escaped %v: %v freed, %v isolated, %d parts", escaped, l.freed, l.isolated, l.parts)
		}
	} else if won, idle := s.EndPinned(gen); !won || !idle || s.TakeStray() != escaped || l.parts != 1 || len(l.forgotten) != 0 {
		t.Errorf("escaped %v: won %v, idle %v, %d parts", escaped, won, idle, l.parts)
	}
}

// The parts of a block at a time have a bound, whether they are cut from it or from its parts. One more takes no pin.
func TestPartsHaveAnEnd(t *testing.T) {
	table, _ := openTable(1000)
	root := attach(table, newRegion(), 0)
	gen := root.Lend(100)
	var mem [100]byte
	p := unsafe.Pointer(&mem)
	for range maxParts - 1 {
		root.Pin(gen) // as a part does
	}
	cut := func(of *Slot, want bool) (e Entry) {
		t.Helper()
		before := root.word.Load()
		e, ok := of.Part(p, 0, 10)
		if ok != want || ok != (e.Slot != nil) || ok != (root.word.Load() == before+1) {
			t.Errorf("a part more: %v, %d pins became %d", ok, before&pinMask, root.word.Load()&pinMask)
		}
		return e
	}
	root.Pin(gen) // for the caller
	last := cut(root, true)
	cut(root, false)
	root.Unpin()
	cut(last.Slot, false)
	root.Unpin() // a part ends
	cut(last.Slot, true)
	root.Pin(gen)
	cut(root, false)
}

// A part of one byte has the address of that byte, and one of none that of its slot.
func TestShortParts(t *testing.T) {
	table, _ := openTable(1)
	root := attach(table, newRegion(), 500)
	var mem [100]byte
	root.Pin(root.Lend(100))
	one, _ := root.Part(unsafe.Pointer(&mem), 99, 1)
	none, _ := root.Part(unsafe.Pointer(&mem), 100, 0)
	if b := one.Slot.Block(1); one.Mem != unsafe.Pointer(&mem[99]) || b.Off != 599 || b.Len != 1 || none.Mem != unsafe.Pointer(none.Slot) {
		t.Errorf("%+v, %+v, %+v", one, b, none)
	}
}

// Parts of a block that has no finalizer have none.
func TestPartsAreWatchedLikeTheirRoot(t *testing.T) {
	for watchFrom, want := range map[int]bool{100: true, 101: false} {
		table, _ := openTable(watchFrom)
		root := attach(table, newRegion(), 0)
		root.Pin(root.Lend(100))
		e, _ := root.Part(nil, 0, 50)
		if e.Slot.flags&watched != 0 != want {
			t.Errorf("blocks from %d bytes: watched %v", watchFrom, !want)
		}
		if !want {
			runtime.SetFinalizer(e.Slot.part(), func(*partial) {}) // fatal where it has one
		}
		runtime.SetFinalizer(e.Slot.part(), nil)
	}
}
