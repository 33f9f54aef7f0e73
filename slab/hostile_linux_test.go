package slab

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device"
)

// Machines and settings that are against us. Each test runs in a process of its own.

// The runtime can be told to work in other ways, by which memory moves, is clobbered when it
// is freed, or is looked through at other times.
func TestSettingsOfTheRuntime(t *testing.T) {
	for _, set := range []string{
		"GOGC=off", "GOGC=1", "GOMEMLIMIT=32MiB", "GOMAXPROCS=1", "GOMAXPROCS=13", "GODEBUG=asyncpreemptoff=1",
		"GODEBUG=gcstoptheworld=2", "GODEBUG=clobberfree=1,invalidptr=1", "GODEBUG=madvdontneed=1", "GODEBUG=gccheckmark=1",
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			if !inChild(t, set) {
				return
			}
			for _, dev := range []string{"heap", "mmap"} {
				stress(t, openPool(t, dev, Config{MaxBytes: 64 << 20}), 2_000)
				forgetAll(t, openPool(t, dev, Config{MaxBytes: 1 << 20}))
			}
		})
	}
}

// forgetAll forgets ten times what fits. All comes back, as Gets look for it.
func forgetAll(t *testing.T, p *Pool) {
	t.Helper()
	for i := range 160 {
		if _, err := p.Get(64 << 10); err != nil {
			t.Fatalf("Get %d: %v", i, err)
		}
	}
}

// Goroutines keep their buffers while processors come and go.
func TestProcessorsComeAndGo(t *testing.T) {
	t.Parallel() // as a process of its own
	if !inChild(t) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, dev := range []string{"heap", "mmap"} {
			stress(t, openPool(t, dev, Config{}), 2_000)
		}
	}()
	for n := 1; ; n = n%16 + 1 {
		select {
		case <-done:
			return
		default:
			runtime.GOMAXPROCS(n)
		}
	}
}

// A finalizer that never returns keeps all others from running: what is forgotten stays
// away. No call waits for it for ever.
func TestBesideAFinalizerThatNeverReturns(t *testing.T) {
	if !inChild(t) {
		return
	}
	stuck, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { close(stuck); <-end })
	runtime.GC()
	<-stuck
	begin := time.Now()
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, Config{MaxBytes: 1 << 20})
		for range 16 {
			mustGet(t, p, 64<<10)
		}
		if b, err := p.Get(64 << 10); err == nil {
			mustRelease(t, b) // a cleanup has brought it
		} else if !outOfMemory(err) {
			t.Error(err)
		}
		p.FreeHeld()
		p.Trim(0)
		_ = p.Close() // which tells of the leaks
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A process may have so many mappings. Where there are none left, memory cannot be taken out
// of use one by one. Gets fail or succeed, what is out stays intact, and no late write
// reaches another owner.
func TestAlmostNoMappingsLeft(t *testing.T) {
	t.Parallel() // as a process of its own
	if raceEnabled || sanitized {
		t.Skip("the sanitizer needs mappings of its own")
	}
	if !inChild(t) {
		return
	}
	p := openPool(t, "mmap", Config{GCTrigger: -1})
	var kept []PooledBuffer
	var escaped [][]byte
	for i := range 256 {
		b := mustGet(t, p, 64<<10)
		device.Fill(b.Bytes(), byte(i))
		if i%2 == 0 {
			kept = append(kept, b)
		} else {
			escaped = append(escaped, b.Bytes())
		}
	}
	growGoHeap(1)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	spareThreads(16)
	defer useUpMappings(t, 500).giveBack()
	probe := openDevice(t, "mmap")
	eventually(t, "the device leaves the last mappings to the runtime", func() bool {
		b, err := probe.Alloc(1)
		probe.Free(b)
		return errors.Is(err, device.ErrOutOfMemory)
	})
	eventually(t, "what was forgotten is found", func() bool {
		cycle()
		return p.Stats().Forgotten == int64(len(escaped))
	})
	if faults := writeLate(escaped); faults != 0 {
		t.Errorf("%d late writes faulted: mappings of the runtime were taken", faults)
	}
	var fresh []PooledBuffer
	for range 128 {
		b, err := p.Get(64 << 10)
		if errors.Is(err, device.ErrOutOfMemory) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		fresh = append(fresh, b)
		device.Fill(b.Bytes(), 7)
	}
	writeLate(escaped)
	for i, b := range fresh {
		checkPaint(t, b.Bytes(), 7, i)
	}
	for i, b := range kept {
		checkPaint(t, b.Bytes(), byte(2*i), i)
	}
	releaseAll(t, fresh)
	releaseAll(t, kept)
	p.FreeHeld()
	checkQuiet(t, p)
	_ = p.Close()
}

// The last mappings are the runtime's: a process that fills the table works 10,000 rounds on each device of
// host memory and lives, whether few or none are left for pools.
func TestMappingsAreLeftToTheRuntime(t *testing.T) {
	t.Parallel() // as a process of its own
	atLength(t)
	if raceEnabled || sanitized {
		t.Skip("the sanitizer needs mappings of its own")
	}
	if !inChild(t) {
		return
	}
	growGoHeap(1)
	spareThreads(16)
	used := useUpMappings(t, 300) // which takes longer than the rounds
	defer used.giveBack()
	for _, line := range []string{"device=heap", "device=mmap", "device=mmap:fixed,strategy=direct"} {
		useFullTable(t, line, 300)
	}
	used.leave(t, 2500)
	for _, line := range []string{"device=mmap:fixed,strategy=direct", "device=mmap,strategy=exact"} {
		useFullTable(t, line, 2500)
	}
}

func useFullTable(t *testing.T, line string, left int) {
	p := openLine(t, line)
	live := make([]PooledBuffer, 2000)
	failed := 0
	for i := range 10_000 {
		k := i * 7919 % len(live)
		if live[k] != (PooledBuffer{}) {
			mustRelease(t, live[k])
		}
		b, err := p.Get(4096 + i%5*4096)
		if err != nil && !errors.Is(err, device.ErrOutOfMemory) {
			t.Fatal(err)
		}
		if live[k] = b; err != nil {
			failed++
			continue
		}
		device.Fill(b.Bytes(), byte(i))
		if i%1000 == 0 {
			runtime.GC()
		}
	}
	text, err := os.ReadFile("/proc/self/maps")
	most := number(t, string(bytes.TrimSpace(mustRead(t, "/proc/sys/vm/max_map_count"))))
	if n := int64(bytes.Count(text, []byte("\n"))); err != nil || n > most-250 {
		t.Errorf("%s, %d left: %d mappings of %d, %v", line, left, n, most, err)
	}
	if fixed := strings.Contains(line, "direct"); fixed && left == 300 && failed == 0 || line == "device=heap" && failed > 0 {
		t.Errorf("%s, %d left: %d Gets failed", line, left, failed)
	}
	for _, b := range live {
		if b != (PooledBuffer{}) {
			mustRelease(t, b)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Skip("nothing says how many mappings there may be: ", err)
	}
	return text
}

// spareThreads has the runtime keep n threads: to make another takes mappings, and the process
// ends where there are none.
func spareThreads(n int) {
	var running, all sync.WaitGroup
	running.Add(n)
	for range n {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread() // the thread waits for other work
			running.Done()
			running.Wait()
		})
	}
	all.Wait()
}

// writeLate writes to memory that was forgotten, and returns how often that faulted.
func writeLate(escaped [][]byte) (faults int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, b := range escaped {
		if doesPanic(func() { device.Fill(b, 0xee) }) {
			faults++
		}
	}
	return faults
}

func checkPaint(t *testing.T, m []byte, c byte, i int) {
	t.Helper()
	if !bytes.Equal(m, bytes.Repeat([]byte{c}, len(m))) {
		t.Fatalf("buffer %d has changed", i)
	}
}

// usedMappings are nearly all that the process may have: every second page of an area differs from its neighbours.
type usedMappings struct {
	area      []byte
	cuts, are int // pages that differed at first, and that still do
}

// useUpMappings leaves the process about so many mappings.
func useUpMappings(t *testing.T, left int) *usedMappings {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		t.Skip("nothing says how many mappings there may be: ", err)
	}
	most := int(number(t, string(bytes.TrimSpace(text))))
	if most > 1<<20 {
		t.Skipf("there may be %d mappings, too many to use them up", most)
	}
	area, err := unix.Mmap(-1, 0, 2*most*os.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Skip("no addresses to cut into mappings: ", err)
	}
	u := &usedMappings{area: area}
	for u.cut(u.cuts, unix.PROT_READ) == nil {
		u.cuts++
	}
	u.are = u.cuts
	u.leave(t, left)
	return u
}

func (u *usedMappings) cut(i int, prot int) error {
	page := os.Getpagesize()
	return unix.Mprotect(u.area[2*i*page:(2*i+1)*page], prot)
}

// leave gives back until the process has about so many left.
func (u *usedMappings) leave(t *testing.T, left int) {
	t.Helper()
	for ; u.are > max(0, u.cuts-left/2); u.are-- {
		if err := u.cut(u.are-1, unix.PROT_NONE); err != nil { // joins its neighbours again
			t.Fatal(err)
		}
	}
}

func (u *usedMappings) giveBack() { _ = unix.Munmap(u.area) }
