package slab

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device"
)

// addressBytes returns the bytes of addresses that the process has.
func addressBytes(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, _, _ := strings.Cut(string(text), " ")
	return number(t, pages) * int64(os.Getpagesize())
}

// growGoHeap allocates Go memory, n times 64 MiB at a time. If there are no addresses
// the runtime ends the process.
func growGoHeap(n int) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var live [][]byte
	for range n {
		live = append(live, make([]byte, 64<<20))
	}
	runtime.KeepAlive(live)
}

// Ten thousand pools with a buffer each leave addresses to the Go heap, and mappings
// to each other. An ordinary run opens a twentieth of them.
func TestTenThousandPoolsLeaveAddressesForOthers(t *testing.T) {
	n := long(t, 500)
	before := addressBytes(t)
	var pools []*Pool
	var live []PooledBuffer
	for range n {
		p := openLine(t, "device=mmap")
		pools, live = append(pools, p), append(live, mustGet(t, p, 1000))
	}
	if have := addressBytes(t) - before; have > int64(n)*(100<<20) {
		t.Errorf("%d pools have %d GiB of addresses", n, have>>30)
	}
	growGoHeap(1)
	releaseAll(t, live)
	for _, p := range pools {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// The Go heap has arenas by now, a few of 64 MiB. Under -race each has a shadow of more.
	if have := addressBytes(t) - before; have > 1<<30+int64(n)*(1<<20) {
		t.Errorf("%d closed pools have %d MiB of addresses", n, have>>20)
	}
}

// A process whose addresses are limited can open any number of pools, and its Go heap
// grows all the same. Pools of larger blocks than a range may have work, too.
func TestPoolsUnderALimitOfAddresses(t *testing.T) {
	t.Parallel() // as a process of its own
	if sanitized || raceEnabled {
		t.Skip("the sanitizer takes more addresses than the limit")
	}
	if maxInt>>40 == 0 {
		t.Skip("an int has 32 bits: there are fewer addresses than the limit")
	}
	if !inChild(t) {
		return
	}
	limit := unix.Rlimit{Cur: 8_000_000 << 10, Max: 8_000_000 << 10}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
		t.Skip("the limit cannot be set: ", err)
	}
	for range 200 {
		p := openLine(t, "device=mmap")
		defer p.Close()
		mustGet(t, p, 1000)
	}
	p := openLine(t, "device=mmap")
	defer p.Close()
	mustGet(t, p, 1<<30)
	for range 100 {
		mustGet(t, p, 10<<20)
	}
	growGoHeap(32)
}

// A buffer that is never released keeps the memory below it when its pool is closed or
// dropped, and no addresses above. It is a page in each 64 MiB, so where an int has 32 bits
// other tests would find no such range any more.
func TestForgottenSmallBuffersKeepNoAddresses(t *testing.T) {
	t.Parallel() // as a process of its own
	if !inChild(t) {
		return
	}
	for name, end := range map[string]func(*Pool){
		"StopHolding": (*Pool).StopHolding,
		"Close":       func(p *Pool) { _ = p.Close() }, // which tells of the leak
		"dropped":     func(*Pool) {},
	} {
		t.Run(name, func(t *testing.T) {
			const pools = 100
			before := addressBytes(t)
			for range pools {
				p := openLine(t, "device=mmap")
				mustGet(t, p, 1000)
				end(p)
			}
			eventually(t, fmt.Sprintf("%d pools have next to no addresses", pools), func() bool {
				cycle()
				// The Go heap has some, too, and each thread of a process with a C library, about 72 MiB.
				return addressBytes(t)-before < pools*16<<20
			})
		})
	}
}

// Where mlockall(2) keeps the pages of the process, pools give back what they can and
// keep the rest: no step of theirs panics.
func TestPoolsWhoseMemoryIsLocked(t *testing.T) {
	if !inChild(t) {
		return
	}
	_ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	if err := unix.Mlockall(unix.MCL_FUTURE); err != nil {
		t.Skip("memory cannot be locked: ", err)
	}
	for _, line := range []string{"device=mmap", "device=mmap:fixed", "device=mmap,strategy=bestfit"} {
		p := openLine(t, line)
		var live []PooledBuffer
		for range 256 {
			live = append(live, mustGet(t, p, 64<<10))
		}
		for i := 0; i < len(live); i += 2 {
			mustRelease(t, live[i])
		}
		p.FreeHeld()
		checkQuiet(t, p)
		p.Trim(0)
		cycle()
		for i := 0; i < len(live); i += 2 {
			live[i] = mustGet(t, p, 64<<10)
			device.Fill(live[i].Bytes(), 1)
		}
		releaseAll(t, live)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		checkNothing(t, p)
	}
}
