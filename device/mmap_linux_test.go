package device

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/refuse"
)

// Pages that mlock(2) keeps are given back all the same, where the kernel can do that.
func TestMmapGivesLockedPagesBack(t *testing.T) {
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
	err := b.Region.(Discarder).Discard(0, len(m))
	if unix.Madvise(m, unix.MADV_DONTNEED_LOCKED) != nil {
		check.Wraps(t, err, ErrOutOfMemory) // and nothing else happens
		return
	}
	if check.Must(t, err); m[0] != 0 {
		t.Error("discarded pages keep their contents")
	}
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
	if refuse.Way() == "" {
		refuse.Again(t, "addresses")
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
	check.Must(t, err, unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: taken + 16<<20, Max: taken + 16<<20}))
	check.Wraps(t, check.Err(opened(t, "mmap").(Reserver).Reserve(leastRange)), ErrOutOfMemory)
	if n := rangeBytes.Load(); n != 0 {
		t.Errorf("%d bytes are counted", n)
	}
}
