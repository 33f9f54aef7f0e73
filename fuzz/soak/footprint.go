package soak

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A footprint is what the system counts for the process, in bytes.
type footprint struct{ resident, addresses int64 }

// footprintOf returns the process's, 0 where the system tells in another way.
func footprintOf() (p footprint) {
	check.Cycle()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return p
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			p.resident = kib << 10
		}
		if n, _ := fmt.Sscanf(line, "VmSize: %d kB", &kib); n == 1 {
			p.addresses = kib << 10
		}
	}
	return p
}

// spread has more threads call each driver at once than will again. A thread stays, with
// its stack and with an arena of the C library's malloc: 72 MiB of addresses.
func (s *soak) spread() {
	const threads = 64
	for _, name := range s.devices {
		d, err := device.Open(name)
		if err != nil {
			s.t.Fatal(err)
		}
		var inside, all sync.WaitGroup
		inside.Add(threads)
		for range threads {
			all.Go(func() {
				runtime.LockOSThread() // until nobody is outside
				defer runtime.UnlockOSThread()
				b, _ := d.Alloc(4096)
				inside.Done()
				inside.Wait()
				d.Free(b)
			})
		}
		all.Wait()
		d.Close()
	}
}
