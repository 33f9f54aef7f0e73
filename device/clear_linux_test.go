package device

import (
	"os"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// Pages that were swapped out have to be cleared, too.
func TestHasMemory(t *testing.T) {
	for entry, want := range map[uint64]bool{0: false, 1 << 63: true, 1 << 62: true, 1 << 61: false, 1<<55 | 7: false} {
		if hasMemory(entry) != want {
			t.Errorf("hasMemory(%x) is %t", entry, !want)
		}
	}
}

// A file of zeros is no pagemap, and neither is a file that is not there or too short.
func TestOpenPages(t *testing.T) {
	for _, path := range []string{"/dev/zero", "/dev/null", "/proc/self/none"} {
		if fd := openPages(path); fd >= 0 {
			t.Errorf("%s is taken for a pagemap", path)
		}
	}
}

// Pages without memory stay without, also those that went back; without an answer of the kernel all are cleared.
func TestClearTouchesNoPageWithoutMemory(t *testing.T) {
	d, page := opened(t, "mmap"), os.Getpagesize()
	n := clearPiece + 20*page
	g := check.Ok(d.(Reserver).Reserve(leastRange))(t)
	defer func() { check.Must(t, g.Close()) }()
	check.Must(t, g.Commit(0, n))
	m := g.Region().(HostRegion).Bytes()[:n]
	touch := func(page, at int) { m[page*at+3] = 1 }
	touch(page, 2)
	touch(page, n/page-1)
	before := residentPages(t, m)
	d.(Clearer).Clear(m)
	if after := residentPages(t, m); after != before || m[page*2+3] != 0 || m[n-page+3] != 0 {
		t.Errorf("%d pages have memory after Clear, %d before; the bytes are %d and %d",
			after, before, m[page*2+3], m[n-page+3])
	}
	check.Must(t, g.Decommit(0, n), g.Commit(0, n))
	if d.(Clearer).Clear(m); residentPages(t, m) != 0 {
		t.Errorf("%d pages have memory again", residentPages(t, m))
	}

	old := pagemap
	defer func() { pagemap = old }()
	pagemap = func() int { return -1 }
	touch(page, 5)
	if d.(Clearer).Clear(m); m[page*5+3] != 0 || residentPages(t, m) < n/page {
		t.Errorf("%d pages have memory where the kernel does not tell, the byte is %d", residentPages(t, m), m[page*5+3])
	}
}
