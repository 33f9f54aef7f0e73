package slab

import (
	"errors"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// The kernel may put a huge page where a few small ones are used, and so fill again what a pool gave
// back (golang/go#61718). MADV_COLLAPSE does at once what khugepaged does by and by. With pages=small it
// may not, with pages=huge all that is not whole is used.
func TestWhatWentBackIsNotFilledAgain(t *testing.T) {
	check.Kernel(t)
	const size, n = 64 << 10, 512
	for pages, filled := range map[string]bool{"": true, "small": false, "huge": false} {
		p, err := OpenConfig(Config{Device: "mmap", Pages: pages})
		if errors.Is(err, device.ErrUnavailable) {
			t.Skip("the system cannot be told what pages to use: ", err)
		}
		check.Must(t, err)
		var kept, gone []PooledBuffer
		for i := range n { // 32 MiB
			b := mustGet(t, p, size)
			device.Fill(b.Bytes(), 1)
			if i%32 == 0 {
				kept = append(kept, b)
			} else {
				gone = append(gone, b)
			}
		}
		releaseAll(t, gone)
		p.Trim(0)
		before := resident(t)
		made := collapse(t, kept)
		grew := resident(t) - before
		if filled && made == 0 {
			t.Skip("this kernel makes no huge pages when it is told to")
		}
		if (grew > 8<<20) != filled {
			t.Errorf("pages=%s: %d MiB managed, %d huge pages made, %d MiB more resident", pages, p.Stats().ManagedBytes>>20, made, grew>>20)
		}
		releaseAll(t, kept)
		check.Must(t, p.Close())
	}
}

// collapse has the kernel make a huge page around each buffer where it may, and returns how many it made.
func collapse(t *testing.T, around []PooledBuffer) (made int) {
	t.Helper()
	const madvCollapse, huge = 25, 2 << 20
	for _, b := range around {
		at := unsafe.Pointer(unsafe.SliceData(b.Bytes()))
		if unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(at, -int(uintptr(at)%huge))), huge), madvCollapse) == nil {
			made++
		}
	}
	return made
}
