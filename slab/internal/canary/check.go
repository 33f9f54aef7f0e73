// Package canary finds misuse of memory: a write beyond a block, and a write into a block that was
// freed. Config.Check puts it before the strategy of a pool.
//
//	check.go   a Check passes allocations through, with canaries around each block
//	freed.go   where the poison of freed blocks is, and what was written into it
//	faults.go  what was found where no caller could be told
package canary

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/poison"
	"github.com/bufslab/bufslab/slab/internal/upstream"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// A Check passes allocations through. It puts canaries around each block and verifies them at Free,
// fills blocks with poison when they come and go, and remembers where each was allocated. It panics
// with what it found and that place. It is safe for concurrent use if its source is.
type Check struct {
	faults

	up     device.Allocator
	around int    // bytes of a canary
	freed  *freed // nil unless LookAgain was called

	mu   sync.Mutex             // leaf
	live map[device.Block]block // by the caller's block
}

// A block is out: inner is what the caller has, outer what the source gave.
type block struct {
	inner, outer device.Block
	got          string // where
	painted      bool   // canaries are in place
	late         string // how it came back, where Free must not panic
}

const (
	least  = 64 // bytes of a canary; a block is aligned to no more
	canary = 0xC5
)

// New returns a Check over a source. It keeps blocks aligned to as much as align, and logs to what
// log returns.
func New(up device.Allocator, align int, log func() *slog.Logger) *Check {
	return &Check{
		faults: faults{log: watch.LateLog{Log: log}}, up: up, around: max(least, align), live: map[device.Block]block{},
	}
}

// LookAgain makes c verify the poison of freed blocks. From now on Leave is called for all memory
// that the source gives back.
func (c *Check) LookAgain() { c.freed = &freed{parts: map[device.Region][]part{}} }

// Alloc returns a block with canaries around it, filled with poison. The collector may
// just be finding the region of the block dead: then it cannot be painted.
func (c *Check) Alloc(size int) (device.Block, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	outer, err := c.up.Alloc(size + 2*c.around)
	if err != nil {
		return device.Block{}, err
	}
	found, poisoned := c.freed.written(outer)
	if found != nil {
		c.up.Free(outer)
		panic(found[0])
	}
	k := block{outer: outer, got: watch.Caller()}
	k.inner = device.Block{Region: outer.Region, Off: outer.Off + c.around, Len: size}
	if m := device.Bytes(outer); m != nil {
		k.painted = true
		if !poisoned {
			device.Fill(m[c.around:c.around+size], poison.Freed)
		}
		device.Fill(m[:c.around], canary)
		device.Fill(m[c.around+size:], canary)
	}
	c.enter(k)
	return k.inner, nil
}

func (c *Check) enter(k block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[k.inner] = k
}

// Free verifies the canaries, fills the block with poison and gives it to
// the source. It panics if b is not out or was written beyond.
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
		c.Report(fault)
	default:
		panic(fault)
	}
}

// take removes b from what is out.
func (c *Check) take(b device.Block) (k block, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok = c.live[b]
	delete(c.live, b)
	return k, ok
}

// bury poisons a block and remembers that. It leaves one alone that was given to the
// source before: its memory may have a new owner.
func (c *Check) bury(k block) {
	m := device.Bytes(k.outer)
	if m == nil || !k.painted {
		return
	}
	device.Fill(m, poison.Freed)
	if c.freed == nil {
		return
	}
	came := k.late
	if came == "" {
		came = "released at " + watch.Caller()
	}
	c.freed.enter(k.outer, &history{k.inner, k.got, came})
}

// pass gives k to the source. If that panics, the block may be freed again, which is
// then for the source to judge: it may have the block out as before, or hold it.
func (c *Check) pass(k block) {
	gone := false
	defer func() {
		if !gone {
			k.painted = false
			c.enter(k)
		}
	}()
	c.up.Free(k.outer)
	gone = true
}

// TakeOut has gone take a block out of use for good, with the canaries around it. It reports a dead
// one. If gone returns false the block stays out.
func (c *Check) TakeOut(b device.Block, gone func(outer device.Block) bool) bool {
	k, ok := c.take(b)
	if !ok {
		return false
	}
	if fault := k.fault(); fault != "" {
		c.Report(fault)
	}
	if !gone(k.outer) {
		c.enter(k)
		return false
	}
	return true
}

// SetLate says that b is about to be freed where no caller could recover from a panic, and
// how it came back. A nil Check has no block.
func (c *Check) SetLate(b device.Block, how string) {
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

// Leave reports what was written into b, which the source is about to give back, while it was
// free. The caller may hold the source's locks.
func (c *Check) Leave(b device.Block) {
	found, _ := c.freed.written(b)
	for _, fault := range found {
		c.Report(fault)
	}
}

// fault says which canary is dead, or "".
func (k block) fault() string {
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

// Faults returns what was reported. A nil Check has found nothing.
func (c *Check) Faults() []string {
	if c == nil {
		return nil
	}
	return c.faults.all()
}

// Canaries returns the bytes of the canaries around so many blocks.
func (c *Check) Canaries(blocks int64) int64 { return blocks * 2 * int64(c.around) }
