package sidetable

import (
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"
)

type object struct{ self *object }

// Each object has a value of its own, the same one for all who ask at a time.
func TestOf(t *testing.T) {
	var table Table[object, int]
	a, b := new(object), new(object)
	var wg sync.WaitGroup
	values := make([]*int, 8)
	for i := range values {
		wg.Go(func() { values[i] = table.Of(a) })
	}
	wg.Wait()
	for _, v := range values {
		if v != table.Of(a) || v == table.Of(b) || *v != 0 {
			t.Fatalf("%p and %p, beside %p", v, table.Of(a), table.Of(b))
		}
	}
	if n := table.Len(); n != 2 {
		t.Errorf("%d values of two objects", n)
	}
	runtime.KeepAlive(b)
}

func TestMake(t *testing.T) {
	made := 0
	table := Table[object, int]{Make: func(*object) *int { made++; return &made }}
	a := new(object)
	for range 2 {
		if table.Of(a) != &made || made != 1 {
			t.Errorf("made %d times", made)
		}
	}
}

// What was the value of an object that lay at an address is not that of the next one there.
func TestOfAnObjectWhereAnotherWas(t *testing.T) {
	var table Table[object, int]
	a, before := new(object), &entry[object, int]{of: weak.Make(new(object)), value: new(int)}
	table.entries.Store(addressOf(a), before)
	if table.Of(a) == before.value || table.Len() != 1 {
		t.Error("the value of another object")
	}
}

// A forgotten object goes, and its value with it.
func TestOfForgottenObjects(t *testing.T) {
	var table Table[object, [1000]byte]
	kept := new(object)
	for range 100 {
		o := new(object)
		o.self = o
		table.Of(o)
	}
	value := table.Of(kept)
	for end := time.Now().Add(30 * time.Second); table.Len() > 1; runtime.Gosched() {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d values are kept", table.Len())
		}
	}
	if table.Of(kept) != value {
		t.Error("the value of an object that is in use has gone")
	}
}
