package handle

import (
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
)

func newSlot() *Slot {
	s := newSingle(&Region{table: new(shared)})
	s.len = 100
	return s
}

// Of all Ends of one generation, one wins, and a generation never comes again.
func TestOneEndWins(t *testing.T) {
	s := newSlot()
	for range 1_000 {
		gen := s.Lend(100)
		var wins atomic.Int32
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				if g%2 == 0 && s.End(gen) {
					wins.Add(1)
				} else if won, idle := s.EndPinned(gen); won && idle {
					wins.Add(1)
				}
			})
		}
		all.Wait()
		if won, idle := s.EndPinned(gen); won || idle || wins.Load() != 1 || s.Owns(gen) || s.End(gen) {
			t.Fatalf("%d wins, and then %v", wins.Load(), won)
		}
	}
}

// While a pin is out the slot is not recycled; the last Unpin does it, once.
func TestLastUnpinRecycles(t *testing.T) {
	s := newSlot()
	gen := s.Lend(100)
	for range 2 {
		if !s.Pin(gen) || s.End(gen) {
			t.Fatal("a slot could not be pinned, or a pinned one was ended")
		}
	}
	if won, idle := s.EndPinned(gen); !won || idle {
		t.Errorf("won %v, idle %v", won, idle)
	}
	if s.Unpin() || !s.Unpin() {
		t.Error("another than the last Unpin recycles")
	}
	if s.Pin(gen) {
		t.Error("pinned after the end")
	}
}

// A pin more than there is room for would change the marks beside them.
func TestPinsHaveAnEnd(t *testing.T) {
	s := newSlot()
	gen := s.Lend(100)
	for range pinMask {
		s.Pin(gen)
	}
	defer func() {
		if recover() == nil || s.word.Load() != gen|pinMask {
			t.Errorf("after as many pins as there are, the word is %#x", s.word.Load())
		}
	}()
	s.Pin(gen)
}

// What one owner has taken is nothing to the next one.
func TestEscapeIsOfOneGeneration(t *testing.T) {
	s := &Slot{flags: watched}
	if gen := s.Lend(0); s.MayHaveEscaped() {
		t.Error("escaped at once")
	} else if s.Escape(); !s.MayHaveEscaped() || !s.End(gen) {
		t.Error("not escaped, or still")
	}
	if s.Lend(0); s.MayHaveEscaped() {
		t.Error("escaped by the owner before")
	}
}

// A late Escape, of an owner whose slot was released meanwhile, counts for the next one. It
// takes nothing from what that one has: a Put finds a slice alone.
func TestALateEscapeHidesNone(t *testing.T) {
	x, _ := openTable(1)
	s := attach(x, newRegion(), 0)
	s.End(s.Lend(100))
	s.Lend(100)
	gen := s.BySlice()
	s.Escape() // of the first owner
	if !s.MayHaveEscaped() || !s.IsBySlice(gen) {
		t.Error("the slice is forgotten")
	}
	if at, now, n := x.Find(s.addr); at != s || now != gen || n != 100 {
		t.Errorf("%p of generation %d with %d bytes was found", at, now, n)
	}
}

// A collection reads the header of a group and none of its slots.
func TestSlotsHaveNoPointers(t *testing.T) {
	for i := range reflect.TypeFor[Slot]().NumField() {
		f := reflect.TypeFor[Slot]().Field(i)
		if k := f.Type.Kind(); k == reflect.Pointer || k == reflect.UnsafePointer || k == reflect.Interface || k == reflect.Slice {
			t.Errorf("field %s is a %v", f.Name, k)
		}
	}
}

// The only caller that has pinned a slot may end it with that pin, and no caller while others have pinned it, too.
func TestEndOwnIsOfTheOnlyPin(t *testing.T) {
	s := newSlot()
	gen := s.Lend(100)
	if s.EndOwn(gen) {
		t.Error("ended without a pin")
	}
	s.Pin(gen)
	if s.IsShared() {
		t.Error("one pin is shared")
	}
	if s.Pin(gen); !s.IsShared() || s.EndOwn(gen) {
		t.Error("ended beside another pin")
	}
	s.Unpin()
	if !s.EndOwn(gen) || s.EndOwn(gen) || s.word.Load() != gen+nextGen {
		t.Errorf("word %#x", s.word.Load())
	}
}

// A handle by slice is of the same owner as the handle before it, and that of the next owner is not.
func TestSameOwner(t *testing.T) {
	s := newSlot()
	gen := s.Lend(100)
	bySlice := s.BySlice()
	s.End(bySlice)
	if next := s.Lend(100); !SameOwner(gen, gen) || !SameOwner(gen, bySlice) || SameOwner(gen, next) || SameOwner(bySlice, next) {
		t.Errorf("generations %#x, %#x and then %#x", gen, bySlice, next)
	}
}

// An owner that hides is lent the block, and not found by its slice.
func TestHide(t *testing.T) {
	x, _ := openTable(1)
	s := attach(x, newRegion(), 0)
	gen := s.Lend(100)
	s.Hide()
	if at, _, _ := x.Find(s.addr); at != nil || s.IsBySlice(gen) || !s.isLent() || !s.MayHaveEscaped() {
		t.Errorf("found %v, by slice %v, lent %v, escaped %v", at != nil, s.IsBySlice(gen), s.isLent(), s.MayHaveEscaped())
	}
	s.End(gen)
	if s.isLent() {
		t.Error("lent without an owner")
	}
	if gen = s.Lend(50); !s.isLent() {
		t.Error("not lent to its owner")
	}
	if at, now, n := x.Find(s.addr); at != s || now != gen || n != 50 {
		t.Error("the next owner is hidden")
	}
}
