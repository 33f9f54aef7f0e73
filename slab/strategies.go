package slab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bufslab/bufslab/slab/internal/sizeclass"
	"github.com/bufslab/bufslab/slab/internal/strategy"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A row is a built-in strategy: the function that makes it, and all that the rest of the package asks by
// the strategy's name. To add a strategy, add a row here and a file in slab/internal/strategy.
type row struct {
	name string
	keys []string // of a Config, that this strategy has a use for and others have not
	own  string   // the key among them whose value may follow the name: bitlog:4
	open func(up upstream.Checked, c Config, f front) Allocator

	caches func(c Config) cached // how it is cached by default; nil is not
	align  int                   // of blocks by default; 0 is the strategy's own

	none          bool   // the strategy keeps nothing for reuse
	maxBlocks     int    // that are kept by default; 0 is no limit
	maxBlockBytes int64  // of a block that is kept by default; 0 is no limit
	noBlocks      string // why it cannot bound the number of blocks that it keeps
}

// A cached says how the blocks of a strategy are cached.
type cached struct {
	grid       *sizeclass.Grid
	exactAbove int           // blocks above this size are as long as asked for, not as long as their class
	miss       time.Duration // a pair by the strategy takes about this much longer than by a cache
}

// rows lists the built-in strategies, the simplest first.
var rows = []row{
	{name: "direct", none: true,
		open: func(up upstream.Checked, _ Config, f front) Allocator {
			return strategy.NewDirect(up, f.lock != nil)
		}},
	{name: "exact", keys: []string{"max_held_blocks", "max_block_bytes"}, maxBlocks: 100,
		maxBlockBytes: 1 << 30,
		open: func(up upstream.Checked, c Config, f front) Allocator {
			return strategy.NewExact(up, freelistOptions(c, f))
		}},
	{name: "bitlog", keys: []string{"bits", "max_held_blocks", "max_block_bytes"}, own: "bits",
		open: func(up upstream.Checked, c Config, f front) Allocator {
			return strategy.NewBitlog(up, max(c.Bits, 0), freelistOptions(c, f)) // -1 is 0 bits
		}},
	{name: "sizeclass", keys: []string{"steps", "align", "max_held_blocks", "max_block_bytes", "cache_bytes"},
		own:      "steps",
		noBlocks: "strategy sizeclass keeps the free blocks of its slabs, however many they are; max_held bounds their bytes",
		caches:   func(c Config) cached { return cached{sizeclass.NewGrid(c.Steps, c.Align), 0, sizeclassMiss} },
		open: func(up upstream.Checked, c Config, f front) Allocator {
			return strategy.NewSizeclass(up, c.Steps, c.Align, c.MaxBytes, freelistOptions(c, f))
		}},
	{name: "bestfit", align: 64, keys: []string{"align", "miss_target", "pages", "reserve", "cache_bytes"},
		own:    "miss_target",
		caches: cachedByHeap,
		open: func(up upstream.Checked, c Config, f front) Allocator {
			return strategy.NewBestfit(up, heapOptions(c, f))
		}},
	{name: "slab", align: 16, keys: []string{"align", "miss_target", "pages", "reserve", "cache_bytes"},
		own:    "miss_target",
		caches: cachedByHeap,
		open: func(up upstream.Checked, c Config, f front) Allocator {
			return strategy.NewSlab(up, heapOptions(c, f))
		}},
}

// A pair by the strategy takes about sizeclassMiss or heapMiss longer than by a cache: 0.9 us with
// sizeclass in a block cache of 128 MiB, whose tables are not in the processor's caches, and 54 ns
// with a page heap.
const sizeclassMiss, heapMiss = 800 * time.Nanosecond, 50 * time.Nanosecond

// cachedByHeap is for strategies with a page heap, and for registered ones where cache_bytes asks for it.
func cachedByHeap(c Config) cached {
	return cached{sizeclass.NewGrid(8, c.Align), strategy.SlabCarveLimit, heapMiss}
}

// rowOf returns the row of a strategy. A registered one has a row that says nothing.
func rowOf(strategy string) row {
	if i := slices.IndexFunc(rows, func(r row) bool { return r.name == strategy }); i >= 0 {
		return rows[i]
	}
	return row{name: strategy, align: 16}
}

func isBuiltin(strategy string) bool { return rowOf(strategy).open != nil }

// onlyWith allows a key for the strategies that list it, and for registered ones, which may read
// every key. An unknown strategy is a fault by itself, and no key is blamed for it.
func onlyWith(key string) func(Config) string {
	return func(c Config) string {
		r := rowOf(c.Strategy)
		if r.open == nil || slices.Contains(r.keys, key) {
			return ""
		}
		var names []string
		for _, r := range rows {
			if slices.Contains(r.keys, key) {
				names = append(names, r.name)
			}
		}
		return fmt.Sprintf("strategy %s has no use for it, only %s", c.Strategy, strings.Join(names, ", "))
	}
}
