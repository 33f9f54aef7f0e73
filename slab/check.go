package slab

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// Check passes allocations through and looks for misuse. It puts canaries around
// each block and verifies them at Free, fills blocks with poison when they come
// and go, and remembers where each was allocated. It panics with what it found and
// that place. Memory that the CPU cannot reach has no canaries and no poison.
//
// It costs 128 bytes a block, more in a pool whose blocks are aligned to more
// than 64, and a look at the call stack: it is for tests. It is safe for
// concurrent use if its upstream is.
type Check struct {
	forward
	around int // bytes of a canary

	mu   sync.Mutex
	live map[address]checkedBlock
}

var _ Allocator = (*Check)(nil)

// A checkedBlock is a block that is out: as the caller has it, and as the upstream
// does.
type checkedBlock struct {
	inner, outer device.Block
	site         string
}

const (
	canaryBytes = 64 // on each side at least; a block is aligned to no more
	canary      = 0xC5
	poisonNew   = 0xA1 // of memory that was not written yet
	poisonFreed = 0xF3 // of memory that is not to be read any more
)

// NewCheck returns a Check over upstream.
func NewCheck(upstream Allocator) *Check { return newCheck(upstream, canaryBytes) }

// newCheck leaves blocks aligned to as much as align.
func newCheck(upstream Allocator, align int) *Check {
	return &Check{forward: newForward(upstream), around: max(canaryBytes, align), live: map[address]checkedBlock{}}
}

// Alloc returns a block with canaries around it, filled with poison.
func (c *Check) Alloc(size int) (device.Block, error) {
	if err := checkSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	outer, err := c.upstream.Alloc(size + 2*c.around)
	if err != nil {
		return device.Block{}, err
	}
	k := checkedBlock{outer: outer, site: caller()}
	k.inner = device.Block{Region: outer.Region, Off: outer.Off + c.around, Len: size}
	if m := device.Bytes(outer); m != nil {
		paint(m, canary)
		paint(m[c.around:c.around+size], poisonNew)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[address{k.inner.Region, k.inner.Off}] = k
	return k.inner, nil
}

// Free verifies the canaries, fills the block with poison and gives it to
// the upstream. It panics if b is not out or was written beyond.
func (c *Check) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	at := address{b.Region, b.Off}
	c.mu.Lock()
	k, ok := c.live[at]
	if !ok || k.inner != b {
		c.mu.Unlock()
		panic(notOut(b))
	}
	delete(c.live, at)
	c.mu.Unlock()
	fault := k.fault()
	if m := device.Bytes(k.outer); m != nil {
		paint(m, poisonFreed)
	}
	c.upstream.Free(k.outer)
	if fault != "" {
		panic(fault)
	}
}

// fault says which canary is dead, or "".
func (k checkedBlock) fault() string {
	m := device.Bytes(k.outer)
	if m == nil {
		return ""
	}
	around := k.inner.Off - k.outer.Off
	alive := bytes.Repeat([]byte{canary}, around)
	side := ""
	switch {
	case !bytes.Equal(m[:around], alive):
		side = "before"
	case !bytes.Equal(m[len(m)-around:], alive):
		side = "after"
	default:
		return ""
	}
	return fmt.Sprintf("slab: something wrote %s a block of %d bytes, allocated at %s", side, k.inner.Len, k.site)
}

func paint(m []byte, v byte) {
	for i := range m {
		m[i] = v
	}
}

// Leaks lists the blocks that are out, with the place of their Alloc, by size.
func (c *Check) Leaks() []Leak {
	c.mu.Lock()
	defer c.mu.Unlock()
	var l []Leak
	for _, k := range c.live {
		l = append(l, Leak{Bytes: k.inner.Len, Site: k.site})
	}
	slices.SortFunc(l, func(a, b Leak) int { return a.Bytes - b.Bytes })
	return l
}

// Usage is the upstream's, with canaries as rounding.
func (c *Check) Usage() Usage {
	x := c.forward.Usage()
	canaries := x.ActiveBlocks * 2 * int64(c.around)
	x.ActiveBytes -= canaries
	x.RoundingBytes += canaries
	return x
}
