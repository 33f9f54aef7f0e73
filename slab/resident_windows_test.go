package slab

import (
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/bufslab/bufslab/device"
)

var processMemory = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// memoryOf returns what the task manager shows of this process: its memory, the working set, and what it has
// committed.
func memoryOf(t *testing.T) (resident, committed int64) {
	t.Helper()
	var c struct { // PROCESS_MEMORY_COUNTERS
		size, faults                                                         uint32
		peakWorkingSet, workingSet, peakPaged, paged, peakNonPaged, nonPaged uintptr
		committed, peakCommitted                                             uintptr
	}
	c.size = uint32(unsafe.Sizeof(c))
	if ok, _, err := processMemory.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&c)), uintptr(c.size)); ok == 0 {
		t.Fatal(err)
	}
	return int64(c.workingSet), int64(c.committed)
}

// What Trim and FreeHeld give back leaves both figures of the task manager, whether it was a range or regions.
func TestWhatGoesBackLeavesTheTaskManager(t *testing.T) {
	const size, n = 1 << 20, 64
	for _, line := range []string{"device=mmap", "device=mmap:fixed"} {
		for name, give := range map[string]func(p *Pool){
			"Trim":     func(p *Pool) { p.Trim(0) },
			"FreeHeld": func(p *Pool) { p.FreeHeld() },
		} {
			p := openLine(t, line)
			debug.FreeOSMemory() // what earlier tests left does not go back meanwhile
			resident, committed := memoryOf(t)
			var all []PooledBuffer
			for range n {
				b := mustGet(t, p, size)
				device.Fill(b.Bytes(), 1)
				all = append(all, b)
			}
			gotResident, gotCommitted := memoryOf(t)
			releaseAll(t, all)
			give(p)
			leftResident, leftCommitted := memoryOf(t)
			for what, x := range map[string][3]int64{
				"resident":  {resident, gotResident, leftResident},
				"committed": {committed, gotCommitted, leftCommitted},
			} {
				t.Logf("%s %s: %d KiB %s before, %d with the buffers, %d after", line, name, x[0]>>10, what, x[1]>>10, x[2]>>10)
				if x[1]-x[0] < n*size*7/8 || x[2]-x[0] > n*size/8 {
					t.Errorf("%s %s: %d KiB %s before, %d with the buffers, %d after", line, name, x[0]>>10, what, x[1]>>10, x[2]>>10)
				}
			}
		}
	}
}
