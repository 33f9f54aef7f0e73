package device

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/check"
)

// Pages that mlock(2) keeps are given back all the same, where the kernel can do that.
func TestMmapGivesLockedPagesBack(t *testing.T) {
	check.Kernel(t)
	d := opened(t, "mmap")
	b := check.Ok(d.Alloc(4 * os.Getpagesize()))(t)
	defer d.Free(b)
	m := Bytes(b)
	if err := unix.Mlock(m); err != nil {
		t.Skip("memory cannot be locked: ", err)
	}
	if unix.Madvise(m, unix.MADV_DONTNEED) == nil {
		t.Skip("this kernel does not keep locked pages")
	}
	Fill(m, 1)
	err := release(m, 0, len(m))
	if unix.Madvise(m, unix.MADV_DONTNEED_LOCKED) != nil {
		check.Wraps(t, err, ErrOutOfMemory) // and nothing else happens
		return
	}
	if check.Must(t, err); m[0] != 0 {
		t.Error("released pages keep their contents")
	}
}

// A Commit of up to 1 MiB finds memory for its pages, also where they were before; a larger
// one leaves that to their first use.
func TestSmallCommitsFindMemory(t *testing.T) {
	check.Kernel(t)
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t)
	defer func() { check.Must(t, g.Close()) }()
	m := g.Region().(HostRegion).Bytes()
	probe := m[populated:][:populated]
	check.Must(t, g.Commit(populated, populated))
	if unix.Madvise(probe, unix.MADV_POPULATE_WRITE) != nil {
		t.Skip("this kernel finds memory when a page is first used")
	}
	pages := populated / g.Page()
	if n := residentPages(t, probe); n != pages {
		t.Errorf("%d pages of %d have memory after a Commit", n, pages)
	}
	Fill(probe, 1)
	check.Must(t, g.Decommit(populated, populated))
	if n := residentPages(t, probe); n != 0 {
		t.Errorf("%d pages have memory after Decommit", n)
	}
	check.Must(t, g.Commit(populated, populated))
	if n := residentPages(t, probe); n != pages || probe[0] != 0 {
		t.Errorf("%d pages of %d have memory after another Commit, the first byte is %d", n, pages, probe[0])
	}
	check.Must(t, g.Commit(2*populated, populated+g.Page()))
	if n := residentPages(t, m[2*populated:][:populated+g.Page()]); n != 0 {
		t.Errorf("%d pages have memory after a large Commit", n)
	}
}

// A Commit of a page at the top finds memory for the next ones, too. All of it goes back with the
// top, and what is not behind the top stays. A kernel that finds none has none at any time.
func TestCommitsAtTheTopFindMemoryAhead(t *testing.T) {
	check.Kernel(t)
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t)
	defer func() { check.Must(t, g.Close()) }()
	m, page := g.Region().(HostRegion).Bytes(), g.Page()
	check.Must(t, g.Commit(0, page))
	ahead, finds := foundAhead/page, unix.Madvise(m[:page], unix.MADV_POPULATE_WRITE) == nil
	want := func(pages int, when string) {
		t.Helper()
		if !finds {
			pages = 0
		}
		if n := residentPages(t, m[:4*foundAhead]); n != pages {
			t.Errorf("%d pages have memory %s, not %d", n, when, pages)
		}
	}
	want(ahead, "after a Commit")
	check.Must(t, g.Commit(page, page), g.Commit(2*page, foundAhead-2*page))
	want(ahead, "when all of that is committed")
	check.Must(t, g.Commit(foundAhead, page), g.Decommit(0, page))
	want(2*ahead-1, "after a Decommit at the bottom")
	check.Must(t, g.Decommit(foundAhead, page))
	want(ahead-1, "after a Decommit at the top")
	check.Must(t, g.Decommit(page, foundAhead-page), g.Commit(2*foundAhead, page))
	want(1, "after a Commit above the top")
	check.Must(t, g.Commit(2*foundAhead+page, page), g.Region().(Shrinker).GiveUp(2*foundAhead+2*page, len(m)-2*foundAhead-2*page))
	m = g.Region().(HostRegion).Bytes()
	check.Must(t, g.Decommit(2*foundAhead, 2*page))
	if n := residentPages(t, m); n != 0 {
		t.Errorf("%d pages have memory where addresses were given up", n)
	}
}

// A Commit up to where memory was found finds no more, and a Decommit of nothing gives nothing back.
// One at the top takes the top back, and one that is refused does not.
func TestTheTopOfARange(t *testing.T) {
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t).(*mmapRange)
	defer func() { check.Must(t, g.Close()) }()
	page := g.Page()
	check.Must(t, g.Commit(0, page), g.Commit(page, foundAhead-page))
	if g.top != foundAhead || g.found != foundAhead {
		t.Errorf("the top is %d, memory was found up to %d", g.top, g.found)
	}
	check.Must(t, g.Commit(foundAhead, page))
	at := *g
	if check.Must(t, g.Decommit(g.top, 0)); *g != at {
		t.Errorf("a Decommit of nothing made %+v of %+v", *g, at)
	}
	if check.Must(t, g.Decommit(page, g.top-page)); g.top != page || g.found != page {
		t.Errorf("the top is %d after a Decommit, memory was found up to %d", g.top, g.found)
	}
	check.Wraps(t, access(g.r.Bytes(), 1, 5), ErrOutOfMemory)
	if text := access(g.r.Bytes(), 1, 5).Error(); !strings.Contains(text, "commit of 4 bytes at 1") {
		t.Error(text)
	}
}

// Nothing is found in a hole, and the top goes back although there is one behind it.
func TestNothingIsFoundWhereAddressesWereGivenUp(t *testing.T) {
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t)
	defer func() { check.Must(t, g.Close()) }()
	page := g.Page()
	check.Must(t, g.Commit(0, page), g.Decommit(0, page), g.Region().(Shrinker).GiveUp(2*page, page))
	check.Must(t, g.Commit(0, page), g.Commit(page, page), g.Decommit(0, 2*page))
	check.Must(t, g.Commit(3*page, page), g.Region().(Shrinker).GiveUp(6*page, page), g.Decommit(3*page, page))
}

// residentPages counts the pages of m, which begins with a page, that have memory.
func residentPages(t *testing.T, m []byte) (n int) {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Skip("this system does not show which pages have memory: ", err)
	}
	defer f.Close()
	entries := make([]byte, len(m)/os.Getpagesize()*8)
	at := int64(uintptr(unsafe.Pointer(&m[0]))) / int64(os.Getpagesize()) * 8
	check.Ok(f.ReadAt(entries, at))(t)
	for ; len(entries) > 0; entries = entries[8:] {
		n += int(binary.NativeEndian.Uint64(entries) >> 63)
	}
	return n
}

// What a range has given up is another's, also when the range is closed.
func TestAddressesGivenUpAreAnothers(t *testing.T) {
	g := check.Ok(opened(t, "mmap").(Reserver).Reserve(leastRange))(t)
	at, n := &g.Region().(HostRegion).Bytes()[g.Page()], uintptr(g.Page())
	check.Must(t, g.Region().(Shrinker).GiveUp(g.Page(), g.Page()))
	const flags = unix.MAP_ANON | unix.MAP_PRIVATE | unix.MAP_FIXED_NOREPLACE
	p, err := unix.MmapPtr(-1, 0, unsafe.Pointer(at), n, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		t.Skip("another has them already: ", err)
	}
	check.Must(t, g.Close())
	if faults(at) {
		t.Fatal("Close has unmapped what another had")
	}
	check.Must(t, unix.MunmapPtr(p, n))
}

// Where the system refuses a range, its addresses do not count. A process of its own has no
// addresses left.
func TestRefusedRangesDoNotCount(t *testing.T) {
	if check.Way() == "" {
		check.Again(t, "addresses")
		return
	}
	if strconv.IntSize == 32 {
		t.Skip("a process has fewer addresses there")
	}
	gigabyte := uintptr(1 << 30)
	check.Ok(unix.MmapPtr(-1, 0, nil, 8*gigabyte, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE))(t)
	var pages uint64
	_, err := fmt.Sscan(string(check.Ok(os.ReadFile("/proc/self/statm"))(t)), &pages)
	taken := pages * uint64(os.Getpagesize())
	limit := roundUp(int(taken)+16<<20, 16*page) + 16*page/2 // whose sixteenth is no multiple of a page
	check.Must(t, err, unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)}))
	check.Wraps(t, check.Err(opened(t, "mmap").(Reserver).Reserve(leastRange)), ErrOutOfMemory)
	if n := rangeBytes.Load(); n != 0 {
		t.Errorf("%d bytes are counted", n)
	}
	one, all := rangeShares()
	if one > int64(limit)/16 || all != int64(limit)/4 {
		t.Errorf("a range may have %d bytes of addresses, all %d, of %d", one, all, limit)
	}
	if n := addressLimit(); n != uint64(limit) {
		t.Errorf("the limit is %d bytes, not %d", n, limit)
	}
	n := check.Ok(takeAddresses(addressable, page))(t)
	if n%page != 0 || int64(n) > one || int64(n+page) <= one {
		t.Errorf("a range has %d bytes of addresses, in pages of %d, where it may have %d", n, page, one)
	}
}

// Where the system has no room to cut a mapping, the pages of a freed block go back all the same, and what has to be at
// a multiple of a page needs no cut. A system that takes no advice has no huge pages.
func TestWhatTheSystemRefuses(t *testing.T) {
	switch check.Way() {
	case "":
		check.Again(t, "munmap")
		check.Again(t, "madvise")
	case "munmap":
		d := opened(t, "mmap")
		b := check.Ok(d.Alloc(3 * page))(t)
		m := Bytes(b)
		Fill(m, 1)
		check.RefuseSyscall(t, unix.SYS_MUNMAP, unix.ENOMEM)
		if d.Free(b); m[0] != 0 || m[len(m)-1] != 0 {
			t.Error("freed pages keep their contents")
		}
		for range 8 {
			check.Ok(d.Alloc(page))(t)
		}
	case "madvise":
		check.RefuseSyscall(t, unix.SYS_MADVISE, unix.EINVAL)
		check.Must(t, opened(t, "mmap").Close())
		for _, name := range []string{"mmap:huge", "mmap:small"} {
			check.Wraps(t, check.Err(Open(name)), ErrUnavailable)
		}
	}
}

// Each mapping of the process is counted, however many there are, and the system says how many there may be.
func TestCountMappings(t *testing.T) {
	check.Kernel(t)
	const more = 4000
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		t.Skip("the system does not tell: ", err)
	}
	most, ok := mostMappings()
	if !ok || strconv.FormatInt(most, 10) != strings.TrimSpace(string(text)) {
		t.Errorf("%d mappings, %v, where the system says %q", most, ok, text)
	}
	if most < 3*more {
		t.Skip("too few to try")
	}
	before, ok := countMappings()
	b := check.Ok(opened(t, "mmap").Alloc(more * page))(t)
	m := Bytes(b)
	for at := page; at < len(m); at += 2 * page {
		check.Must(t, unix.Mprotect(m[at:][:page], unix.PROT_NONE))
	}
	if after, too := countMappings(); !ok || !too || after-before < more || after-before > more+more/4 {
		t.Errorf("%d mappings after %d and some %d more", after, before, more)
	}
}

// A mapping at a multiple of much leaves nothing of what it took to find one, before and behind.
func TestAlignedMappingsLeaveNoAddresses(t *testing.T) {
	const least, most, n = 2, 4096, 4 // pages, and mappings of each
	taken := func() (pages int) {
		_, err := fmt.Sscan(string(check.Ok(os.ReadFile("/proc/self/statm"))(t)), &pages)
		check.Must(t, err)
		return pages * os.Getpagesize()
	}
	for align := least * page; align <= most*page; align *= 2 {
		before := taken()
		for range n {
			p, err := alignedMapping(page, align, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
			check.Must(t, err)
			if uintptr(p)%uintptr(align) != 0 {
				t.Errorf("%p is no multiple of %d", p, align)
			}
			defer func() { check.Must(t, unix.MunmapPtr(p, uintptr(page))) }()
		}
		if more := taken() - before; align == most*page && more > n*align/4 {
			t.Errorf("%d pages take %d MiB of addresses", n, more>>20)
		}
	}
}
