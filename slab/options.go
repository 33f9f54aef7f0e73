package slab

import (
	"math"
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
	key[string]{Name: "overflow", Field: func(c *Config) *string { return &c.Overflow }, Kind: optline.Strings,
		Range: optline.OneOf("make"), Needs: plainMemory, ZeroText: "none, a Get fails"},
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
