package device

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

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

// What the kernel says is of all pages that are asked for, or it says nothing.
func TestPagesOf(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pages")
	check.Must(t, os.WriteFile(name, bytes.Repeat([]byte{7}, 3*8), 0o600))
	f := check.Ok(os.Open(name))(t)
	defer f.Close()
	for _, c := range []struct {
		fd, first, pages int
		want             bool
	}{{0, 0, 3, true}, {0, 2, 1, true}, {0, 1, 3, false}, {0, 3, 1, false}, {-1, 0, 1, false}} {
		if c.fd == 0 {
			c.fd = int(f.Fd())
		}
		pages := make([]uint64, c.pages)
		if got := pagesOf(c.fd, uintptr(c.first), pages); got != c.want || got && pages[c.pages-1] != 0x0707070707070707 {
			t.Errorf("%d pages from %d on: %v, %x", c.pages, c.first, got, pages)
		}
	}
}

// No program that this one starts has the file that stays open.
func TestPagemapIsOfThisProcess(t *testing.T) {
	if fd := pagemap(); fd >= 0 && check.Ok(unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0))(t)&unix.FD_CLOEXEC == 0 {
		t.Error("it stays open in what the process starts")
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
