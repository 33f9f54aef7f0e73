package handle

import (
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
)

func newSlot() *Slot {
	s := newSingle(&Region{table: new(Table)})
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
		if wins.Load() != 1 || s.Owns(gen) || s.End(gen) {
			t.Fatalf("%d wins", wins.Load())
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
	if s.Unpin(gen) || !s.Unpin(gen) {
		t.Error("another than the last Unpin recycles")
	}
	if s.Pin(gen) {
		t.Error("pinned after the end")
	}
}

// What one owner has taken is nothing to the next one.
func TestEscapeIsOfOneGeneration(t *testing.T) {
	s := &Slot{flags: watched}
	if gen := s.Lend(0); s.hasEscaped() {
		t.Error("escaped at once")
	} else if s.Escape(gen); !s.hasEscaped() || !s.End(gen) || s.hasEscaped() {
		t.Error("not escaped, or still")
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
