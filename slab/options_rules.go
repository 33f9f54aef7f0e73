package slab

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/bufslab/bufslab/slab/internal/reserve"
)

// When a key is of use, and what it is where a Config leaves it out.

func onHeap(c Config) bool { return c.Device == "" || c.Device == "heap" }

// scheme is the kind of device: "mmap" of "mmap:fixed".
func (c Config) scheme() string {
	scheme, _, _ := strings.Cut(c.Device, ":")
	return scheme
}

// isVirtual reports whether name is a virtual device, which has no memory.
func isVirtual(name string) bool { return Config{Device: name}.scheme() == "virtual" }

func defaultStrategy(c Config) (string, string) {
	if onHeap(c) {
		return "sizeclass", "default on heap"
	}
	return "slab", "default off the heap"
}

// defaultOf is the default of a key that a strategy's row may set.
func defaultOf[T comparable](of func(row) T) func(Config) (T, string) {
	return func(c Config) (v T, source string) {
		if v = of(rowOf(c.Strategy)); v != *new(T) {
			return v, "default of " + c.Strategy
		}
		return v, "default"
	}
}

// defaultCache turns the caches off where something has to see every call.
func defaultCache(c Config) (int64, string) {
	switch {
	case c.Check:
		return -1, "off, as check sees every call"
	case rowOf(c.Strategy).caches != nil:
		return 64 << 20, "default of " + c.Strategy
	}
	return -1, "default of " + c.Strategy
}

// defaultTrigger is off where a collection could bring no memory back.
func defaultTrigger(c Config) (int64, string) {
	if isVirtual(c.Device) {
		return -1, "off, as virtual has no memory"
	}
	return 64 << 20, "default of " + c.Strategy
}

// roomForABlock says that the budget is too small for any block of the device, or "".
func roomForABlock(c Config) string {
	name, grain := c.traits.name, c.traits.Grain
	if c.scheme() == "mmap" {
		name, grain = c.Device, os.Getpagesize() // known before it is open
	}
	if 0 < c.MaxBytes && c.MaxBytes < int64(grain) {
		return fmt.Sprintf("no block fits, as a region of device %s has at least %d bytes", name, grain)
	}
	return ""
}

// countsBlocks refuses a bound that sizeclass could not keep: a slab with one active block
// may have a hundred free ones.
func countsBlocks(c Config) string {
	if why := rowOf(c.Strategy).noBlocks; why != "" && 0 < c.MaxHeldBlocks && c.MaxHeldBlocks < math.MaxInt {
		return why
	}
	return onlyWith("max_held_blocks")(c)
}

func holding(c Config) string {
	if rowOf(c.Strategy).none {
		return "strategy " + c.Strategy + " keeps nothing"
	}
	return ""
}

// plainMemory says that buffers of the device are no memory that make could make, or "".
func plainMemory(c Config) string {
	if s := c.scheme(); !onHeap(c) && s != "mmap" {
		return "device " + c.Device + " has other memory than make"
	}
	return ""
}

func offHeap(c Config) string {
	if onHeap(c) {
		return "device heap has no memory outside the Go heap"
	}
	return ""
}

func recording(c Config) string {
	if !c.records() {
		return "nothing is recorded without record or record_last"
	}
	return ""
}

func caching(c Config) string {
	if c.Check {
		return "check sees every call, so nothing can be cached"
	}
	return onlyWith("cache_bytes")(c)
}

// needsAlign says why a Config has no use for its Align, or "".
func needsAlign(c Config) string {
	if why := onlyWith("align")(c); why != "" {
		return why
	}
	if most := mostAlign(c); c.Align > most {
		return fmt.Sprintf("device %s aligns blocks to %d bytes at most; mmap can do more", cmp.Or(c.Device, "heap"),
			most)
	}
	if 0 < c.Align && c.Align < c.traits.Align {
		return fmt.Sprintf("device %s uses blocks at multiples of %d only", c.traits.name, c.traits.Align)
	}
	return ""
}

// needsPages says why c has no use for its Pages, or "". A device that is open has its own.
func needsPages(c Config) string {
	if why := onlyWith("pages")(c); why != "" {
		return why
	}
	switch own := "mmap:" + c.Pages; {
	case c.Device != "mmap" && c.Device != "mmap:huge" && c.Device != "mmap:small":
		return "device " + cmp.Or(c.Device, "heap") + " has no ranges of mmap"
	case c.Pages != "" && (c.Device != "mmap" && c.Device != own || c.traits.name != "" && c.traits.name != own):
		return "device " + cmp.Or(c.traits.name, c.Device) + " is another than " + own
	}
	return ""
}

// deviceName is the name of the device to open.
func (c Config) deviceName() string {
	d := c.withDefaults().Device
	if d == "mmap" && c.Pages != "" {
		return d + ":" + c.Pages
	}
	return d
}

// mostAlign is the alignment that a device can be trusted with. Memory that the CPU reaches is verified, too.
func mostAlign(c Config) int {
	s := c.scheme()
	if onHeap(c) || s == "cuda" || s == "metal" || s == "opencl" && !strings.HasSuffix(c.Device, ":pinned") {
		return 4096
	}
	return 2 << 20
}

// defaultAlign is the alignment that the device needs, if it needs more than the default.
// Sizeclass has a default of its own, which is no single number.
func defaultAlign(c Config) (int, string) {
	if c.traits.Align > 16 {
		return c.traits.Align, "as device " + c.traits.name + " needs"
	}
	return rowOf(c.Strategy).align, "default of " + c.Strategy
}

// needsReserve says why c has no use for its Reserve, or "".
func needsReserve(c Config) string {
	if why := onlyWith("reserve")(c); why != "" {
		return why
	}
	switch n := reserve.Size(c.Reserve); {
	case 0 < c.MaxBytes && c.MaxBytes < n:
		return "more than max_bytes"
	case n > heldLimit(c.MaxHeld):
		return "more than max_held, and a reserve is held"
	}
	return ""
}

// isShare reports whether the text of a key that takes a size or a share is a share.
func isShare(text string) bool { return strings.HasSuffix(text, "%") }

// unusedFor is how long memory is held unused, unless a Config says so. What a program uses in turns comes again
// sooner, and what comes again later costs a page fault for each page, or a call.
const unusedFor = 10 * time.Second

// defaultTrim and defaultIdle give both times one value where a Config has but one. So one key says that nothing goes.
func defaultTrim(c Config) (time.Duration, string) {
	if c.Idle != 0 {
		return c.Idle, "as idle"
	}
	return unusedFor, "default"
}

func defaultIdle(c Config) (time.Duration, string) { return c.TrimAfter, "as trim_after" }
