package device

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/check"
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
