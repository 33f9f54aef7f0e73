package slab

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/optline"
	"github.com/bufslab/bufslab/slab/internal/reserve"
)

var strategyNames = optline.Range[string]{
	Names: Strategies,
	Has:   func(name string) bool { return slices.Contains(Strategies(), name) },
}

type key[T comparable] = optline.Key[Config, T]

var sizes = optline.Sizes[int64](device.ParseSize)

// options lists the keys of a Config. Device and strategy come first: the
// defaults of the others depend on them.
var options = optline.Table[Config]{
	key[string]{Name: "device", Field: func(c *Config) *string { return &c.Device }, Kind: optline.Strings,
		Range: optline.NonEmpty("a name for device.Open"), Default: "heap"},
	key[string]{Name: "strategy", Field: func(c *Config) *string { return &c.Strategy }, Kind: optline.Strings,
		Range: strategyNames, Own: func(name string) string { return rowOf(name).own }, DefaultFor: defaultStrategy},

	key[int]{Name: "bits", Field: func(c *Config) *int { return &c.Bits }, Kind: optline.Counts,
		Range: optline.Between(1, 16), Words: map[string]int{"0": -1}, Needs: onlyWith("bits"), Default: 4},
	key[int]{Name: "steps", Field: func(c *Config) *int { return &c.Steps }, Kind: optline.Counts,
		Range: optline.PowerOfTwo(1, 64), Needs: onlyWith("steps"), Default: 4},
	key[int]{Name: "align", Field: func(c *Config) *int { return &c.Align }, Kind: optline.Sizes[int](device.ParseSize),
		Range: alignments, Needs: needsAlign, DefaultFor: defaultAlign, ZeroText: "16 (64 from 64 bytes up)"},
	key[float64]{Name: "miss_target", Field: func(c *Config) *float64 { return &c.MissTarget }, Kind: optline.Fractions,
		Range: optline.Range[float64]{Want: "a share above 0 and up to 1 (1% is 0.01)",
			Has: func(v float64) bool { return v > 0 && v <= 1 }},
		Needs: onlyWith("miss_target"), Default: 0.01},
	key[bool]{Name: "decommit", Field: func(c *Config) *bool { return &c.Decommit }, Kind: optline.Bools,
		Range: optline.TrueOrFalse, Needs: onlyWith("decommit"), ZeroText: "false"},

	key[string]{Name: "pages", Field: func(c *Config) *string { return &c.Pages }, Kind: optline.Strings,
		Range: optline.OneOf("huge", "small"), Needs: needsPages, ZeroText: "as the system does it"},
	key[string]{Name: "reserve", Field: func(c *Config) *string { return &c.Reserve }, Kind: optline.Strings,
		Range: reserves, Words: map[string]string{"none": ""}, Needs: needsReserve, ZeroText: "none"},
	optline.Either[Config]{
		First: key[int64]{Name: "max_bytes", Field: func(c *Config) *int64 { return &c.MaxBytes }, Kind: sizes,
			Range: optline.Positive[int64]("a size of 1 byte or more or a share up to 100%"),
			Words: map[string]int64{"none": 0}, Needs: roomForABlock, ZeroText: "none"},
		Second: key[float64]{Name: "max_bytes", Field: func(c *Config) *float64 { return &c.MaxShare },
			Kind: optline.Shares, Range: shares},
		Is: isShare,
	},
	optline.Either[Config]{
		First: key[int64]{Name: "max_held", Field: func(c *Config) *int64 { return &c.MaxHeld }, Kind: sizes,
			Range: optline.Positive[int64]("a size or a share up to 100%"),
			Words: map[string]int64{"0": -1, "none": 0}, Needs: holding, ZeroText: "none"},
		Second: key[float64]{Name: "max_held", Field: func(c *Config) *float64 { return &c.HeldShare },
			Kind: optline.Shares, Range: shares, Needs: holding},
		Is: isShare,
	},
	key[int]{Name: "max_held_blocks", Field: func(c *Config) *int { return &c.MaxHeldBlocks }, Kind: optline.Counts,
		Range: optline.Positive[int]("1 block or more"), Words: map[string]int{"0": -1, "none": math.MaxInt},
		Needs: countsBlocks, DefaultFor: defaultOf(func(r row) int { return r.maxBlocks }), ZeroText: "none"},
	key[int64]{Name: "max_block_bytes", Field: func(c *Config) *int64 { return &c.MaxBlockBytes }, Kind: sizes,
		Range: optline.Positive[int64]("a size of 1 byte or more"), Words: map[string]int64{"none": math.MaxInt64},
		Needs: onlyWith("max_block_bytes"), DefaultFor: defaultOf(func(r row) int64 { return r.maxBlockBytes }), ZeroText: "none"},
	key[int64]{Name: "cache_bytes", Field: func(c *Config) *int64 { return &c.CacheBytes }, Kind: sizes,
		Range: optline.Positive[int64]("a size"), Words: map[string]int64{"0": -1}, Needs: caching, DefaultFor: defaultCache},

	key[time.Duration]{Name: "trim_after", Field: func(c *Config) *time.Duration { return &c.TrimAfter },
		Kind:  optline.Durations,
		Range: optline.Positive[time.Duration]("a positive duration like 30s"), Words: map[string]time.Duration{"none": -1},
		Needs: holding, DefaultFor: defaultTrim},
	key[time.Duration]{Name: "idle", Field: func(c *Config) *time.Duration { return &c.Idle }, Kind: optline.Durations,
		Range: optline.Positive[time.Duration]("a positive duration like 30s"), Words: map[string]time.Duration{"keep": -1},
		Needs: holding, DefaultFor: defaultIdle},
	key[bool]{Name: "pressure", Field: func(c *Config) *bool { return &c.Pressure }, Kind: optline.Switches,
		Range: optline.Range[bool]{Want: "on or off"}, Needs: holding, ZeroText: "off"},
	key[string]{Name: "name", Field: func(c *Config) *string { return &c.Name }, Kind: optline.Strings,
		Range: names, ZeroText: "the line of this Config"},
	key[string]{Name: "on_forget", Field: func(c *Config) *string { return &c.OnForget }, Kind: optline.Strings,
		Range: optline.OneOf("return", "free", "report"), Default: "return"},
	key[int64]{Name: "gc_trigger", Field: func(c *Config) *int64 { return &c.GCTrigger }, Kind: sizes,
		Range: optline.Positive[int64]("a size"), Words: map[string]int64{"0": -1}, Needs: offHeap,
		DefaultFor: defaultTrigger},

	key[bool]{Name: "zero", Field: func(c *Config) *bool { return &c.Zero }, Kind: optline.Bools,
		Range: optline.TrueOrFalse, ZeroText: "false"},
	key[bool]{Name: "strict", Field: func(c *Config) *bool { return &c.Strict }, Kind: optline.Bools,
		Range: optline.TrueOrFalse, ZeroText: "false"},
	key[bool]{Name: "check", Field: func(c *Config) *bool { return &c.Check }, Kind: optline.Bools,
		Range: optline.TrueOrFalse, ZeroText: "false"},
	key[int]{Name: "guard", Field: func(c *Config) *int { return &c.Guard }, Kind: optline.Counts,
		Range: optline.Between(1, math.MaxInt32), Words: map[string]int{"none": 0}, ZeroText: "none"},
	key[string]{Name: "record", Field: func(c *Config) *string { return &c.Record }, Kind: optline.Strings,
		Range: optline.NonEmpty("a file name"), ZeroText: "none"},
	key[int]{Name: "record_last", Field: func(c *Config) *int { return &c.RecordLast }, Kind: optline.Counts,
		Range: optline.Between(1, math.MaxInt32), ZeroText: "none"},
	key[bool]{Name: "record_sites", Field: func(c *Config) *bool { return &c.RecordSites }, Kind: optline.Bools,
		Range: optline.TrueOrFalse, Needs: recording, ZeroText: "false"},

	key[int64]{Name: "profile_rate", Field: func(c *Config) *int64 { return &c.ProfileRate }, Kind: sizes,
		Range: optline.Positive[int64]("a size"), Words: map[string]int64{"0": 0, "none": 0}, ZeroText: "none"},
}

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
	if onHeap(c) || !strings.HasSuffix(c.Device, ":pinned") && (s == "cuda" || s == "opencl") {
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

var reserves = optline.Range[string]{Want: "a size or learned:FILE", Has: reserve.Valid}

// names are texts that every log, label and JSON object can hold on a line.
var names = optline.Range[string]{
	Want: "1 to 200 bytes of printable characters",
	Has: func(s string) bool {
		unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
		return s != "" && len(s) <= mostName && utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable)
	},
}

// mostName bounds the bytes of a name, as each error and each metric has the name.
const mostName = 200

// alignments is a power of two whose bounds are written as sizes are.
var alignments = optline.Range[int]{Want: "a power of two, 8 to 2MiB", Has: optline.PowerOfTwo(8, 2<<20).Has}

var shares = optline.Range[float64]{
	Want: "a share above 0 and up to 100%",
	Has:  func(v float64) bool { return 0 < v && v <= 1 },
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
