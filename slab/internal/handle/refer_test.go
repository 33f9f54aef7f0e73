package handle

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"
	"weak"

	"github.com/bufslab/bufslab/internal/gcwatch"
)

// byNumber returns the owner that two numbers find, and undoes the pin.
func byNumber(table, number uint64) (Entry, uint64, int) {
	e, gen, n, ok := Referred(table, number)
	if !ok {
		return Entry{}, 0, 0
	}
	e.Slot.Unpin()
	return e, gen, n
}

// An owner has one number, until its generation ends; the next owner of the slot has another.
func TestANumberIsOfOneOwner(t *testing.T) {
	table, _ := openTable(1)
	r := newRegion()
	s := attach(table, r, 100)
	gen := s.Lend(70)
	of, number := Refer(s, gen, 70)
	if of2, again := Refer(s, gen, 70); of == 0 || number == 0 || of2 != of || again != number {
		t.Errorf("%d.%d, then %d.%d", of, number, of2, again)
	}
	if e, g, n := byNumber(of, number); e.Slot != s || e.Mem != unsafe.Pointer(&r.mem[100]) || g != gen || n != 70 {
		t.Errorf("%+v, generation %d, %d bytes", e, g, n)
	}
	s.End(gen)
	if e, _, _ := byNumber(of, number); e.Slot != nil {
		t.Error("an ended owner is found")
	}
	if of, number := Refer(s, gen, 70); of != 0 || number != 0 {
		t.Error("an ended owner has a number")
	}
	next := s.Lend(80)
	if _, other := Refer(s, next, 80); other == number || len(table.refs.of) != 1 || len(table.refs.last) != 1 {
		t.Errorf("%d, then %d, and %d numbers are kept", number, other, len(table.refs.of))
	}
	if e, _, _ := byNumber(of, number); e.Slot != nil {
		t.Error("the number of an owner finds the next")
	}
	tables.Store(of+2, weak.Pointer[shared]{}) // of a table that was collected, as before its cleanup
	defer tables.Delete(of + 2)
	for _, none := range [][2]uint64{{0, 0}, {of, 0}, {of, number + 5}, {of + 1, number}, {of + 2, number}} {
		if _, _, _, ok := Referred(none[0], none[1]); ok {
			t.Errorf("%d.%d finds an owner", none[0], none[1])
		}
	}
}

// What loses its block is in no map any more: the slot may be freed.
func TestASlotWithoutABlockHasNoNumber(t *testing.T) {
	table, _ := openTable(1)
	s := attach(table, newRegion(), 100)
	gen := s.Lend(70)
	of, number := Refer(s, gen, 70)
	s.End(gen)
	table.Detach(s)
	if len(table.refs.of) != 0 || len(table.refs.last) != 0 {
		t.Errorf("%d numbers are kept", len(table.refs.of))
	}
	if e, _, _ := byNumber(of, number); e.Slot != nil {
		t.Error("it is found")
	}
}

// Memory that the collector has found dead is nobody's, before that is reported, too.
func TestDeadMemoryIsNotFoundByNumber(t *testing.T) {
	table, l := openTable(0)
	r := collected{newRegion()}
	s := attach(table, r, 100)
	of, number := Refer(s, s.Lend(70), 70)
	if e, _, _ := byNumber(of, number); e.Slot != s {
		t.Error("it is not found while it lives")
	}
	r.dead = true
	if e, _, _ := byNumber(of, number); e.Slot != nil {
		t.Error("dead memory is found")
	}
	r.lost()
	if len(l.freed) != 1 || len(table.refs.of) != 0 {
		t.Errorf("%v freed, %d numbers", l.freed, len(table.refs.of))
	}
}

// An owner that is found by its number while the report is on its way is not forgotten.
func TestAPinnedOwnerOutlivesTheReport(t *testing.T) {
	table, l := openTable(1)
	s := attach(table, newRegion(), 0)
	of, number := Refer(s, s.Lend(100), 100)
	if _, _, _, ok := Referred(of, number); !ok {
		t.Fatal("it is not found")
	}
	s.unwatch() // the runtime has removed the finalizer when it runs
	table.onSlotDead(s)
	if len(l.forgotten) != 0 {
		t.Error("what is in use was forgotten")
	}
	s.Unpin()
	s.unwatch()
	table.onSlotDead(s)
	if e, _, _ := byNumber(of, number); e.Slot != nil || len(l.freed) != 1 {
		t.Errorf("%+v is found, %v freed", e, l.freed)
	}
}

// A part has a number of its own, which opens its bytes.
func TestPartsHaveNumbers(t *testing.T) {
	table, _ := openTable(1)
	r := newRegion()
	root := attach(table, r, 500)
	gen := root.Lend(100)
	root.Pin(gen)
	e, _ := root.Part(unsafe.Pointer(&r.mem[500]), 10, 50)
	empty, _ := root.Part(unsafe.Pointer(&r.mem[500]), 100, 0)
	root.Unpin()
	of, number := Refer(e.Slot, e.Slot.Lend(50), 50)
	if f, g, n := byNumber(of, number); f != e || g != 0 || n != 50 {
		t.Errorf("%+v, %d, %d", f, g, n)
	}
	_, other := Refer(empty.Slot, empty.Slot.Lend(0), 0)
	if f, _, n := byNumber(of, other); f != empty || n != 0 || other == number {
		t.Errorf("an empty part: %+v, %d bytes", f, n)
	}
	root.EndPinned(gen)
	if f, _, _ := byNumber(of, number); f != e {
		t.Error("it is not found after the root's release")
	}
	e.Slot.End(0)
	e.Slot.EndPart()
	if f, _, _ := byNumber(of, number); f.Slot != nil {
		t.Errorf("%+v", f)
	}
	runtime.KeepAlive(empty)
}

// However many parts come and go, few numbers are kept; those of the living are.
func TestNumbersOfEndedPartsGo(t *testing.T) {
	table, _ := openTable(1)
	r := newRegion()
	root := attach(table, r, 500)
	of, kept := Refer(root, root.Lend(100), 100)
	root.Pin(root.Generation())
	living, _ := root.Part(unsafe.Pointer(&r.mem[500]), 10, 10)
	root.Unpin()
	_, keptPart := Refer(living.Slot, living.Slot.Lend(10), 10)
	for range 100 * leastReferences {
		root.Pin(root.Generation())
		e, _ := root.Part(unsafe.Pointer(&r.mem[500]), 0, 10)
		root.Unpin()
		gen := e.Slot.Lend(10)
		Refer(e.Slot, gen, 10)
		e.Slot.End(gen)
		e.Slot.EndPart()
		table.parts = new(sync.Pool) // as after a collection: the next has a slot of its own
	}
	if n := len(table.refs.of); n > 2*leastReferences || len(table.refs.last) > n {
		t.Errorf("%d numbers are kept, of %d slots", n, len(table.refs.last))
	}
	if e, _, _ := byNumber(of, kept); e.Slot != root {
		t.Error("the living one was forgotten")
	}
	if e, _, _ := byNumber(of, keptPart); e.Slot != living.Slot {
		t.Error("the living part was forgotten")
	}
}

// A part at the address of a freed one is another.
func TestAPartIsNotKnownByItsAddress(t *testing.T) {
	var x references[partial]
	a, b := new(partial), new(partial)
	first := reference[partial]{slot: 1, part: weak.Make(a)}
	all := func(reference[partial]) bool { return true }
	n := x.number(first, all)
	if m := x.number(reference[partial]{slot: 1, part: weak.Make(b)}, all); m == n || x.of[n] != (reference[partial]{}) {
		t.Errorf("%d, then %d", n, m)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

// However many references there are, each is looked at about twice.
func TestSweepsAreRare(t *testing.T) {
	var x references[partial]
	const n = 10_000
	looks := 0
	for slot := range uintptr(n) {
		x.number(reference[partial]{slot: slot + 1}, func(reference[partial]) bool { looks++; return true })
	}
	if len(x.of) != n || looks > 3*n {
		t.Errorf("%d looks at %d references", looks, len(x.of))
	}
}

// Neither a closed table nor one that is forgotten leaves its number behind.
func TestNoTableLeavesANumber(t *testing.T) {
	have := func(number uint64) bool { _, ok := tables.Load(number); return ok }
	table, _ := openTable(1)
	s := attach(table, newRegion(), 0)
	gen := s.Lend(100)
	of, number := Refer(s, gen, 100)
	table.EndReferences()
	if e, _, _ := byNumber(of, number); e.Slot != s {
		t.Error("what is out of a closed table is not found")
	}
	s.End(gen)
	if table.EndReferences(); have(of) || table.refs.of != nil {
		t.Error("a closed table is kept")
	}
	again, other := Refer(s, s.Lend(100), 100) // late, beside Close
	if e, _, _ := byNumber(again, other); e.Slot != s || again == of || other == number {
		t.Errorf("%d.%d, then %d.%d", of, number, again, other)
	}

	forgotten := func() uint64 {
		table, _ := openTable(10_000)
		s := attach(table, newRegion(), 0)
		of, _ := Refer(s, s.Lend(100), 100)
		return of
	}()
	for range 10 {
		if gcwatch.Collect(func() int64 { return 0 }); !have(forgotten) {
			return
		}
	}
	t.Error("a forgotten table is kept")
}
