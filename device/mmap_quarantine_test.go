//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows

package device

import (
	"errors"
	"os"
	"runtime/debug"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// faults reports whether reading a byte faults.
func faults(b *byte) (does bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { does = recover() != nil }()
	sink = *b
	return
}

var (
	sink byte
	page = os.Getpagesize()
)

// Whole pages in quarantine fault, and their neighbours keep their contents.
func TestQuarantineFaults(t *testing.T) {
	d, err := Open("mmap")
	check.Must(t, err)
	b, err := d.Alloc(4 * page)
	check.Must(t, err)
	defer d.Free(b)
	m := Bytes(b)
	for i := range m {
		m[i] = 7
	}
	q := b.Region.(Quarantiner)
	check.Must(t, q.Quarantine(1, 2*page), q.Quarantine(page, 0))
	for i, want := range []bool{false, true, false, false} {
		if got := faults(&m[i*page+100]); got != want {
			t.Errorf("page %d: faults is %v", i, got)
		}
	}
	if m[page-1] != 7 || m[2*page] != 7 {
		t.Error("neighbours changed")
	}
	for _, c := range [][2]int{{-1, 5}, {0, 4*page + 1}} {
		if err := q.Quarantine(c[0], c[1]); !errors.Is(err, ErrSize) {
			t.Errorf("Quarantine(%d, %d): %v", c[0], c[1], err)
		}
	}
}
