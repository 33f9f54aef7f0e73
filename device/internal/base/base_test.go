package base

import (
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

// A region that is freed stays until the last call that uses it, and takes no more.
func TestLife(t *testing.T) {
	var l Life
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
