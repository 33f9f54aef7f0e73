package growpool

import "testing"

func TestKeysOfEveryKind(t *testing.T) {
	below := openSlab(t, "")
	type pair struct {
		a string
		b int8
	}
	check := func(name string, get func(i int) error, len func() int) {
		for range 2 {
			for i := range 300 {
				if err := get(i); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len() != 300 {
			t.Errorf("%s: %d keys of 300", name, len())
		}
	}
	a := New[int](below, Config{})
	check("int", func(i int) error { _, err := Get[byte](a, i-100, 9); return err }, func() int { return len(a.Stats()) })
	b := New[pair](below, Config{})
	check("struct", func(i int) error { _, err := Get[byte](b, pair{"x", int8(i / 2)}, 9); return err }, func() int { return 2 * len(b.Stats()) })
	c := New[any](below, Config{})
	check("any", func(i int) error { _, err := Get[byte](c, any([2]any{i, "k"}), 9); return err }, func() int { return len(c.Stats()) })
	d := New[float32](below, Config{})
	check("float32", func(i int) error { _, err := Get[byte](d, float32(i), 9); return err }, func() int { return len(d.Stats()) })
	e := New[uint64](below, Config{})
	check("uint64", func(i int) error { _, err := Get[byte](e, uint64(i)<<40, 9); return err }, func() int { return len(e.Stats()) })
	z := New[struct{}](below, Config{})
	check("struct{}", func(i int) error { _, err := Get[byte](z, struct{}{}, 9); return err }, func() int { return 300 * len(z.Stats()) })
}

// Keys that leave make room for others: the table does not grow for ever, and
// every search ends.
func TestTableOfKeysThatComeAndGo(t *testing.T) {
	var x table[int]
	x.init()
	for i := range 100_000 {
		e := x.add(i)
		if x.find(i) != e || x.add(i) != e || i >= 10 && x.find(i-10) != nil {
			t.Fatalf("key %d", i)
		}
		if i >= 9 {
			x.remove(x.find(i - 9))
		}
	}
	if n := len(x.slots.Load().at); n != leastSlots || x.live != 9 {
		t.Errorf("%d slots for %d keys", n, x.live)
	}
}

// The key of a grave is the zero key: it must not be found there.
func TestTheZeroKeyIsNotFoundInGraves(t *testing.T) {
	var x table[int64]
	x.init()
	x.secret = [2]uint64{} // all keys stand together
	x.add(1)
	x.add(2)
	x.remove(x.find(1))
	if x.find(0) != nil || x.find(1) != nil || x.find(2) == nil {
		t.Error("found in a grave, or not behind one")
	}
	if e := x.add(0); x.find(0) != e || e.key != 0 {
		t.Error("the zero key is lost")
	}
}
