package slab

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Strategies returns the names of the strategies, the simplest first.
func Strategies() []string {
	return []string{"direct", "exact", "bitlog", "sizeclass", "bestfit", "slab"}
}

// options is the table that drives every reading and writing of a Config, in
// the order in which keys are written. Device and strategy come first: the
// defaults of the others depend on them.
var options = []option{
	key[string]{key: "device", field: func(c *Config) *string { return &c.Device }, kind: texts,
		ok: notEmpty, want: "a name for device.Open",
		preset: func(Config) (string, string) { return "heap", "default" }},
	key[string]{key: "strategy", field: func(c *Config) *string { return &c.Strategy }, kind: texts,
		ok: oneOf(Strategies()...), want: strings.Join(Strategies(), ", "), preset: presetStrategy},

	key[int]{key: "bits", field: func(c *Config) *int { return &c.Bits }, kind: counts,
		ok: within(1, 16), want: "1 to 16", needs: strategy("bitlog"), preset: preset(4)},
	key[int]{key: "steps", field: func(c *Config) *int { return &c.Steps }, kind: counts,
		ok: powerOfTwo(1, 64), want: "a power of two, 1 to 64", needs: strategy("sizeclass"), preset: preset(4)},
	key[int]{key: "align", field: func(c *Config) *int { return &c.Align }, kind: counts,
		ok: powerOfTwo(8, 4096), want: "a power of two, 8 to 4096", needs: aligning,
		preset: presetAlign, zero: "16 (64 from 64 bytes up)"},
	key[float64]{key: "miss_target", field: func(c *Config) *float64 { return &c.MissTarget }, kind: shares,
		ok: func(v float64) bool { return v > 0 && v <= 1 }, want: "a share above 0 and up to 1 (1% is 0.01)",
		needs: strategy("bestfit", "slab"), preset: preset(0.01)},
	key[bool]{key: "decommit", field: func(c *Config) *bool { return &c.Decommit }, kind: flags,
		want: "true or false", needs: strategy("bestfit", "slab"), zero: "false"},

	key[int64]{key: "max_bytes", field: func(c *Config) *int64 { return &c.MaxBytes }, kind: sizes,
		words: map[string]int64{"none": 0}, ok: positive[int64], want: "a size of 1 byte or more", zero: "none"},
	key[int64]{key: "max_held", field: func(c *Config) *int64 { return &c.MaxHeld }, kind: sizes,
		words: map[string]int64{"0": -1, "none": 0}, ok: positive[int64], want: "a size", needs: holding, zero: "none"},
	key[int]{key: "max_held_blocks", field: func(c *Config) *int { return &c.MaxHeldBlocks }, kind: counts,
		words: map[string]int{"0": -1, "none": math.MaxInt}, ok: positive[int], want: "1 block or more",
		needs: strategy("exact", "bitlog", "sizeclass"), preset: presetOf("exact", 100), zero: "none"},
	key[int64]{key: "max_block_bytes", field: func(c *Config) *int64 { return &c.MaxBlockBytes }, kind: sizes,
		words: map[string]int64{"none": math.MaxInt64}, ok: positive[int64], want: "a size of 1 byte or more",
		needs: strategy("exact", "bitlog", "sizeclass"), preset: presetOf("exact", int64(1<<30)), zero: "none"},
	key[int64]{key: "cache_bytes", field: func(c *Config) *int64 { return &c.CacheBytes }, kind: sizes,
		words: map[string]int64{"0": -1}, ok: positive[int64], want: "a size", needs: caching, preset: presetCache},

	key[time.Duration]{key: "trim_after", field: func(c *Config) *time.Duration { return &c.TrimAfter }, kind: spans,
		words: map[string]time.Duration{"none": 0}, ok: positive[time.Duration], want: "a positive duration like 30s",
		needs: holding, zero: "none"},
	key[string]{key: "on_forget", field: func(c *Config) *string { return &c.OnForget }, kind: texts,
		ok: oneOf("return", "free", "report"), want: "return, free, report", preset: preset("return")},
	key[int64]{key: "gc_valve", field: func(c *Config) *int64 { return &c.GCValve }, kind: sizes,
		words: map[string]int64{"0": -1}, ok: positive[int64], want: "a size", needs: offHeap, preset: presetValve},

	key[bool]{key: "zero", field: func(c *Config) *bool { return &c.Zero }, kind: flags, want: "true or false", zero: "false"},
	key[bool]{key: "strict", field: func(c *Config) *bool { return &c.Strict }, kind: flags, want: "true or false", zero: "false"},
	key[bool]{key: "check", field: func(c *Config) *bool { return &c.Check }, kind: flags, want: "true or false", zero: "false"},
	key[string]{key: "record", field: func(c *Config) *string { return &c.Record }, kind: texts,
		ok: notEmpty, want: "a file name", zero: "none"},
}

func notEmpty(s string) bool { return s != "" }

func positive[T int | int64 | time.Duration](n T) bool { return n > 0 }

func within(low, high int) func(int) bool {
	return func(n int) bool { return low <= n && n <= high }
}

func powerOfTwo(low, high int) func(int) bool {
	return func(n int) bool { return low <= n && n <= high && n&(n-1) == 0 }
}

func oneOf(names ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(names, s) }
}

func onHeap(c Config) bool { return c.Device == "" || c.Device == "heap" }

func presetStrategy(c Config) (string, string) {
	if onHeap(c) {
		return "sizeclass", "default on heap"
	}
	return "slab", "default off the heap"
}

func preset[T any](v T) func(Config) (T, string) {
	return func(Config) (T, string) { return v, "default" }
}

// presetOf is a default of one strategy; the others have none.
func presetOf[T any](strategy string, v T) func(Config) (T, string) {
	return func(c Config) (T, string) {
		var none T
		if c.Strategy == strategy {
			return v, "default of " + strategy
		}
		return none, "default"
	}
}

// presetCache turns the caches off where something has to see every call.
// Behind slab and bestfit they are small, as what they hold counts twice
// there: it is kept from being merged.
func presetCache(c Config) (int64, string) {
	switch {
	case c.Check:
		return -1, "off, as check sees every call"
	case c.Record != "":
		return -1, "off, as record sees every call"
	case c.Strategy == "sizeclass":
		return 64 << 20, "default of sizeclass"
	case c.Strategy == "slab", c.Strategy == "bestfit":
		return 1 << 20, "default of " + c.Strategy
	}
	return -1, "default of " + c.Strategy
}

// presetValve is off where there is no memory that a collection could bring back.
func presetValve(c Config) (int64, string) {
	if scheme, _, _ := strings.Cut(c.Device, ":"); scheme == "virtual" {
		return -1, "off, as virtual has no memory"
	}
	return 64 << 20, "default"
}

// strategy makes a key one of the named strategies only.
func strategy(names ...string) func(Config) string {
	return func(c Config) string {
		if slices.Contains(names, c.Strategy) {
			return ""
		}
		return fmt.Sprintf("strategy %s has no use for it, only %s", c.Strategy, strings.Join(names, ", "))
	}
}

func holding(c Config) string {
	if c.Strategy == "direct" {
		return "strategy direct keeps nothing"
	}
	return ""
}

func offHeap(c Config) string {
	if onHeap(c) {
		return "device heap has no memory outside the Go heap"
	}
	return ""
}

func caching(c Config) string {
	switch {
	case c.Check:
		return "check sees every call, so nothing can be cached"
	case c.Record != "":
		return "record sees every call, so nothing can be cached"
	}
	return strategy("sizeclass", "bestfit", "slab")(c)
}
