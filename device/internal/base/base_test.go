package base

import (
	"errors"
	"math"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// Panics and errors are facts with numbers.
func TestTexts(t *testing.T) {
	d := Named("sim", "sim:late=1")
	defer func() {
		if got := recover(); got != "sim: Free of a block that is not out, 100 bytes at offset 3 of sim:late=1" {
			t.Errorf("panic is %q", got)
		}
	}()
	check.Must(t, d.Usable(), d.CheckAlloc(0), d.Close())
	for want, err := range map[string]error{
		"sim: sim:late=1: closed":                                    d.Close(),
		"sim: stream of sim:late=1: closed":                          d.StreamClosed(),
		"sim: alloc of -1 bytes on sim:late=1: invalid size":         d.CheckAlloc(-1),
		"sim: 5 bytes at offset 4 of 8 in pages of 4: invalid size":  CheckSpan("sim", 4, 5, 8, 4),
		"sim: 8 bytes at offset 4 of 8 in pages of 4: invalid size":  CheckSpan("sim", 4, 8, 8, 4),
		"sim: -4 bytes at offset 4 of 8 in pages of 4: invalid size": CheckSpan("sim", 4, -4, 8, 4),
		"sim: 4 bytes at offset -4 of 8 in pages of 4: invalid size": CheckSpan("sim", -4, 4, 8, 4),
		"sim: 4 bytes at offset 12 of 8 in pages of 4: invalid size": CheckSpan("sim", 12, 4, 8, 4),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	check.Wraps(t, d.CheckAlloc(1), ErrClosed)
	d.BadFree(100, 3)
}

// A span lies in the region, on whole pages. An empty one may lie at either end.
func TestCheckSpan(t *testing.T) {
	const size, page = 12, 4
	for off := -page; off <= size+page; off++ {
		for n := -page; n <= size+page; n++ {
			inside := off >= 0 && n >= 0 && off+n <= size
			want := inside && off%page == 0 && n%page == 0
			if err := CheckSpan("sim", off, n, size, page); want != (err == nil) || err != nil && !errors.Is(err, ErrSize) {
				t.Errorf("%d bytes at %d: %v", n, off, err)
			}
		}
	}
	const most = math.MaxInt &^ (page - 1)
	for _, c := range [][2]int{{page, most}, {most, page}, {most, most}} { // off+n is more than an int
		if err := CheckSpan("sim", c[0], c[1], size, page); !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes at %d: %v", c[1], c[0], err)
		}
	}
}

// A budget is used up to its last byte, and no further. What is given back can be taken again.
func TestBudget(t *testing.T) {
	b := Budget{Total: 10}
	for _, c := range []struct {
		take, give int64
		ok         bool
		left       int64
	}{
		{take: 11, left: 10}, {take: 0, ok: true, left: 10}, {take: 4, ok: true, left: 6}, {take: 7, left: 6},
		{take: 6, ok: true, left: 0}, {take: 0, ok: true, left: 0}, {take: 1, left: 0},
		{give: 4, take: 5, left: 4}, {take: 3, ok: true, left: 1},
	} {
		b.Give(c.give)
		if ok := b.Take(c.take); ok != c.ok || b.Free() != c.left {
			t.Errorf("%+v: %t, %d are left", c, ok, b.Free())
		}
	}
}

// The memory closes the device that it owns, and says whether it owns one.
func TestOwner(t *testing.T) {
	var o struct{ Owner }
	if owns, err := CloseParent(&o.Owner); owns || err != nil {
		t.Errorf("without a device: %t, %v", owns, err)
	}
	if Own(1, nil) {
		t.Error("what has no Owner owns a device")
	}
	if !Own(&o, func() error { return ErrDeviceLost }) {
		t.Error("what has an Owner owns no device")
	}
	if owns, err := CloseParent(&o.Owner); !owns || err != ErrDeviceLost {
		t.Errorf("of its device: %t, %v", owns, err)
	}
}

// A region that is freed stays until the last call that uses it, and takes no more. Nor does one that is not out yet.
func TestLife(t *testing.T) {
	var l Life
	if l.Hold() {
		t.Error("a region takes a call before Begin")
	}
	l.Begin()
	if !l.Hold() || l.Freed() || !l.End() || l.End() || !l.Freed() {
		t.Fatal("a region is not freed once")
	}
	if l.Hold() {
		t.Error("a freed region takes another call")
	}
	if l.Drop() || l.Uses() != 1 || !l.Drop() || l.Uses() != 0 || l.Hold() {
		t.Error("the last use of a freed region is not the end of it")
	}
}
