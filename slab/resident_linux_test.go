package slab

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/check"
)

const residentOf = "BUFSLAB_RESIDENT_OF" // the configuration, in the child

// A pool off the Go heap that is not used keeps no page of its buffers after its idle
// time, and leaves next to nothing else resident. It runs in a process of its own, so
// that no other memory counts.
//
// Under sanitizers only the pages of the buffers are judged. By pages and the calls
// of mmap that made them, 3.4 to 11.5 MiB of such a process were the detector's: logs of
// 128 KiB of what each goroutine did, up to 8.4 MiB, and shadow. They grow as the test waits.
func TestIdlePoolLeavesNothingResident(t *testing.T) {
	atLength(t)
	if line := os.Getenv(residentOf); line != "" {
		idleResident(t, line)
		return
	}
	for _, line := range []string{"device=mmap,idle=10ms", "device=mmap:fixed,idle=10ms"} {
		t.Run(line, func(t *testing.T) {
			check.StartsItself(t)
			cmd := exec.Command(os.Args[0], "-test.run=^TestIdlePoolLeavesNothingResident$", "-test.v")
			cmd.Env = append(os.Environ(), residentOf+"="+line)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_, figures, ran := strings.Cut(string(out), "resident: ")
			if !ran {
				t.Skip(string(out))
			}
			figures, _, _ = strings.Cut(figures, "\n")
			t.Log(figures)
		})
	}
}

func idleResident(t *testing.T, line string) {
	p := openLine(t, line)
	before := residentKiB(t)
	var live residentBlocks
	live.fill(t, p)
	peak := residentKiB(t) - before
	if n := live.keptKiB(t); n != residentSize>>10 {
		t.Fatalf("%d KiB are found of %d that were written", n, residentSize>>10)
	}
	releaseAll(t, live.buffers[:])
	kept := settled(0, func() int64 { return live.keptKiB(t) })
	most := int64(4 << 10) // what else a process of the kind has
	if raceEnabled || sanitized {
		most = peak // the detector's logs count, and the shadow of what was poisoned: an eighth of it
	}
	left := settled(most, func() int64 { return residentKiB(t) - before })
	fmt.Printf("resident: %d KiB at the peak, %d when idle, %.2f %%, %d of the buffers\n", peak, left, 100*float64(left)/float64(peak), kept)
	if kept > 0 || left > most {
		t.Errorf("%d KiB of %d are resident, %d of the buffers, %d managed", left, peak, kept, p.Stats().ManagedBytes>>10)
	}
	runtime.KeepAlive(p)
}

// settled returns what f does when that is at most n, or after ten seconds.
func settled(n int64, f func() int64) int64 {
	for end := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		if v := f(); v <= n || time.Now().After(end) {
			return v
		}
	}
}

const (
	residentSize = 128 << 20
	residentPart = 4 << 10 // no page is smaller
)

// residentMark begins each part. What another owner of the address writes there differs.
var residentMark = []byte("bufslab was here")

// residentBlocks are buffers, and where they were.
type residentBlocks struct {
	buffers   [128]PooledBuffer
	addresses [128]int64
	memory    int // a file descriptor, as pagemap is
	pagemap   int
	read      [16]byte
	pages     [8 * (residentSize/128/residentPart + 1)]byte // of pagemap, of one buffer
}

func (l *residentBlocks) fill(t *testing.T, p *Pool) {
	for i := range l.buffers {
		l.buffers[i] = mustGet(t, p, residentSize/len(l.buffers))
		m := l.buffers[i].Bytes()
		l.addresses[i] = int64(uintptr(unsafe.Pointer(&m[0])))
		for ; len(m) > 0; m = m[residentPart:] {
			copy(m, residentMark)
		}
	}
}

// keptKiB counts the parts that still have their mark. A page that was given back reads
// as zeros, or not at all. Which pages are resident would not do: the system gives
// addresses that the pool unmaps to the race detector, and to stacks of threads, at once. Only
// resident pages are read: to read another one makes it resident, of 8 MiB of stack each. It
// makes no garbage: an os.File would, for each address that is not mapped.
func (l *residentBlocks) keptKiB(t *testing.T) (n int64) {
	if l.memory == 0 {
		l.memory, l.pagemap = openFile(t, "/proc/self/mem"), openFile(t, "/proc/self/pagemap")
	}
	for _, a := range l.addresses {
		clear(l.pages[:])
		_, _ = unix.Pread(l.pagemap, l.pages[:], a/pageSize*8)
		for off := int64(0); off < residentSize/int64(len(l.addresses)); off += residentPart {
			if entry := l.pages[((a+off)/pageSize-a/pageSize)*8:]; binary.NativeEndian.Uint64(entry)&inMemory == 0 {
				continue
			}
			if k, _ := unix.Pread(l.memory, l.read[:], a+off); k > 0 && bytes.Equal(l.read[:k], residentMark) {
				n += residentPart >> 10
			}
		}
	}
	return n
}

// inMemory has the bits of a page in pagemap that is present or swapped out.
const inMemory = 1<<63 | 1<<62

var pageSize = int64(os.Getpagesize())

func openFile(t *testing.T, path string) (file int) {
	file, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var statm struct {
	file *os.File
	buf  [128]byte
}

// residentKiB makes no garbage, which would be resident too.
func residentKiB(t *testing.T) (n int64) {
	if statm.file == nil {
		f, err := os.Open("/proc/self/statm")
		if err != nil {
			t.Skip(err)
		}
		statm.file = f
	}
	read, _ := statm.file.ReadAt(statm.buf[:], 0)
	_, pages, _ := bytes.Cut(statm.buf[:read], []byte(" ")) // the second field
	for _, c := range pages {
		if c == ' ' {
			break
		}
		n = n*10 + int64(c-'0')
	}
	return n * int64(os.Getpagesize()) >> 10
}
