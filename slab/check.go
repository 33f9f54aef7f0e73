package slab

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/poison"
	"github.com/bufslab/bufslab/slab/internal/upstream"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// Check passes allocations through and looks for misuse. It puts canaries around
// each block and verifies them at Free, fills blocks with poison when they come
// and go, and remembers where each was allocated. It panics with what it found and
// that place. Memory that the CPU cannot reach has no canaries and no poison.
//
// In a pool (Config.Check) it also verifies the poison of a released block, which finds
// a write after Release: when a byte of the block is handed out again, and then Get
// panics, or when it goes upstream. It looks at the last 16,384 released blocks. It does
// not find a write that puts the poison back, nor one to memory that has gone upstream.
// A Check of [NewCheck] is not told what its upstream does with free blocks: their links
// may be in them, or they may be gone. So it looks at none.
//
// What a pool finds where no caller could recover, it logs (Config.Logger) and returns
// as a *[CheckError] from Close: a canary of a forgotten buffer, or of one that streams
// used after its Release, and poison of memory that goes upstream.
//
// It costs 128 bytes a block, more in a pool whose blocks are aligned to more
// than 64, and a look at the call stack: it is for tests. It is safe for
// concurrent use if its upstream is.
type Check struct {
	forward
	around int // bytes of a canary
	log    func() *slog.Logger

	mu     sync.Mutex                    // leaf
	live   map[device.Block]checkedBlock // by what the caller has
	freed  *freedBlocks                  // nil where what goes upstream is not told
	faults []string
}

var _ Allocator = (*Check)(nil)

// A checkedBlock is a block that is out: as the caller has it, and as the upstream
// does.
type checkedBlock struct {
	inner, outer device.Block
	got          string // where
	painted      bool   // canaries are in place
	late         string // how it came back, where Free must not panic
}

const (
	canaryBytes = 64 // on each side at least; a block is aligned to no more
	canary      = 0xC5
	poisonNew   = 0xA1 // of memory that was not written yet
)

// NewCheck returns a Check over upstream.
func NewCheck(upstream Allocator) *Check { return newCheck(upstream, canaryBytes) }

// newCheck leaves blocks aligned to as much as align.
func newCheck(upstream Allocator, align int) *Check {
	return &Check{forward: newForward(upstream), around: max(canaryBytes, align), log: slog.Default, live: map[device.Block]checkedBlock{}}
}

// Alloc returns a block with canaries around it, filled with poison. The collector may
// just be finding the region of the block dead: then it cannot be painted.
func (c *Check) Alloc(size int) (device.Block, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	outer, err := c.upstream.Alloc(size + 2*c.around)
	if err != nil {
		return device.Block{}, err
	}
	if fault := c.reuse(outer); fault != "" {
		c.upstream.Free(outer)
		panic(fault)
	}
	k := checkedBlock{outer: outer, got: watch.Caller()}
	k.inner = device.Block{Region: outer.Region, Off: outer.Off + c.around, Len: size}
	if m := device.Bytes(outer); m != nil {
		k.painted = true
		device.Fill(m, canary)
		device.Fill(m[c.around:c.around+size], poisonNew)
	}
	c.enter(k)
	return k.inner, nil
}

func (c *Check) enter(k checkedBlock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[k.inner] = k
}

// Free verifies the canaries, fills the block with poison and gives it to
// the upstream. It panics if b is not out or was written beyond.
func (c *Check) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	k, ok := c.take(b)
	if !ok {
		panic(upstream.NotOut(b))
	}
	fault := k.fault()
	c.bury(k)
	c.pass(k)
	switch {
	case fault == "":
	case k.late != "":
		c.report(fault)
	default:
		panic(fault)
	}
}

// take removes b from what is out.
func (c *Check) take(b device.Block) (k checkedBlock, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok = c.live[b]
	delete(c.live, b)
	return k, ok
}

// pass gives k to the upstream. If that panics, the block may be freed again, which is
// then for the upstream to judge: it may have the block out as before, or hold it.
func (c *Check) pass(k checkedBlock) {
	gone := false
	defer func() {
		if !gone {
			k.painted = false
			c.enter(k)
		}
	}()
	c.upstream.Free(k.outer)
	gone = true
}

// setLate says that b is about to be freed where no caller could recover from a panic, and
// how it came back.
func (c *Check) setLate(b device.Block, how string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.live[b]; ok {
		k.late = how
		c.live[b] = k
	}
}

// fault says which canary is dead, or "".
func (k checkedBlock) fault() string {
	m := device.Bytes(k.outer)
	if m == nil || !k.painted {
		return ""
	}
	around := k.inner.Off - k.outer.Off
	side := ""
	switch {
	case poison.Unlike(m[:around], canary) >= 0:
		side = "before"
	case poison.Unlike(m[len(m)-around:], canary) >= 0:
		side = "after"
	default:
		return ""
	}
	return fmt.Sprintf("slab: something wrote %s a block of %d bytes, allocated at %s", side, k.inner.Len, k.got)
}

// maxFaults bounds what a CheckError lists.
const maxFaults = 100

// report keeps a fault for Close and logs it, on another goroutine: the caller may hold
// locks.
func (c *Check) report(fault string) {
	go c.log().Error(fault)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, fault)
	}
}

// A CheckError lists what Config.Check found where no caller could be told, up to 100
// faults.
type CheckError struct{ Faults []string }

func (e *CheckError) Error() string { return strings.Join(e.Faults, "\n") }

// err returns a *CheckError of what was reported, or nil.
func (c *Check) err() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.faults) == 0 {
		return nil
	}
	return &CheckError{slices.Clone(c.faults)}
}

// Leaks lists the blocks that are out, with the place of their Alloc, by size.
func (c *Check) Leaks() []Leak {
	c.mu.Lock()
	defer c.mu.Unlock()
	var l []watch.Leak
	for _, k := range c.live {
		l = append(l, watch.Leak{Bytes: k.inner.Len, Site: k.got})
	}
	watch.SortLeaks(l)
	return leaksOf(l)
}

// Usage is the upstream's, with canaries as rounding.
func (c *Check) Usage() Usage {
	x := c.forward.Usage()
	canaries := x.ActiveBlocks * 2 * int64(c.around)
	x.ActiveBytes -= canaries
	x.RoundingBytes += canaries
	return x
}
