package fuzz_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// pool opens pools by c that run no collector: nothing is forgotten here, and a first Get
// without room would look for it in each of thousands of pools.
func pool(c slab.Config) func(slab.Allocator) (*slab.Pool, error) {
	c.GCTrigger = -1
	return func(upstream slab.Allocator) (*slab.Pool, error) { return slab.Open(upstream, c) }
}

func TestPools(t *testing.T) {
	for _, name := range slab.Strategies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckPool(t, pool(slab.Config{Strategy: name}), fuzz.Hostile())
		})
	}
}

func TestPoolsOnDevices(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed", "virtual", "sim", "sim:late=1", "sim:late=1:pinned"} {
		for _, name := range slab.Strategies() {
			t.Run(dev+","+name, func(t *testing.T) {
				t.Parallel()
				fuzz.CheckPool(t, pool(slab.Config{Strategy: name}), fuzz.OnDevice(opener(dev)), fuzz.Hostile())
			})
		}
	}
}

// A pool that is strict panics at a second Release, which is what its Config asks for and no fault.
func TestPoolsThatAreStrict(t *testing.T) {
	fuzz.CheckPool(t, pool(slab.Config{Strict: true}))
}

// No one waits for more than the device has, whatever is out.
func TestPoolsOnDevicesOfLessThanIsAsked(t *testing.T) {
	for _, dev := range []string{"sim:16KiB", "virtual:16KiB"} {
		for _, name := range slab.Strategies() {
			t.Run(dev+","+name, func(t *testing.T) {
				t.Parallel()
				fuzz.CheckPool(t, pool(slab.Config{Strategy: name}), fuzz.OnDevice(opener(dev)))
			})
		}
	}
}

// What a strategy holds that a pool was opened on is held by the pool: its figures and
// all that gives back know of it.
func TestPoolsOnStrategies(t *testing.T) {
	for _, name := range slab.Strategies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckPool(t, func(upstream slab.Allocator) (*slab.Pool, error) {
				return pool(slab.Config{Strategy: "direct"})(with(name, slab.Config{})(upstream))
			})
		})
	}
}

// checkPools checks pools by c over the memory that each program draws: that of
// a device, or the check's own, which is named "".
func checkPools(t *testing.T, c slab.Config, memories []string, options ...fuzz.Option) {
	t.Helper()
	properties := map[string]func(*rapid.T){}
	for _, name := range memories {
		o := options
		if name != "" {
			o = append(slices.Clone(options), fuzz.OnDevice(opener(name)))
		}
		properties[name] = fuzz.PoolProperty(pool(c), o...)
	}
	model.Check(t, func(t *rapid.T) { properties[rapid.SampledFrom(memories).Draw(t, "memory")](t) })
}

// A budget holds at every moment, on pages that divide it.
func TestPoolsWithABudget(t *testing.T) {
	const most = 160 << 10
	for _, name := range slab.Strategies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memories := []string{"", "heap", "mmap", "sim", "sim:late=2"}
			checkPools(t, slab.Config{Strategy: name, MaxBytes: most}, memories, fuzz.MaxBytes(most))
		})
	}
}

// configs are lines of configuration that change what a pool does, by name.
var configs = []struct {
	name    string
	config  slab.Config
	options []fuzz.Option
}{
	{"held", slab.Config{Strategy: "slab", MaxHeld: 30 << 10}, nil},
	{"held nothing", slab.Config{Strategy: "bestfit", MaxHeld: -1}, nil},
	{"held few", slab.Config{Strategy: "bitlog", MaxHeld: 40 << 10, MaxHeldBlocks: 3}, nil},
	{"held little", slab.Config{Strategy: "sizeclass", MaxHeld: 40 << 10}, nil},
	{"check", slab.Config{Strategy: "sizeclass", Check: true}, nil},
	{"check, slab", slab.Config{Strategy: "slab", Check: true}, nil},
	{"check, exact", slab.Config{Strategy: "exact", Check: true}, nil},
	{"zero", slab.Config{Strategy: "sizeclass", Zero: true}, []fuzz.Option{fuzz.Zeroed()}},
	{"zero, slab", slab.Config{Strategy: "slab", Zero: true}, []fuzz.Option{fuzz.Zeroed()}},
	{"no cache", slab.Config{Strategy: "sizeclass", CacheBytes: -1}, nil},
	{"no cache, slab", slab.Config{Strategy: "slab", CacheBytes: -1}, nil},
	{"small cache", slab.Config{Strategy: "sizeclass", CacheBytes: 8 << 10}, nil},
	{"large cache", slab.Config{Strategy: "slab", CacheBytes: 64 << 20}, nil},
	{"align", slab.Config{Strategy: "sizeclass", Align: 64}, []fuzz.Option{fuzz.Align(64)}},
	{"align, slab", slab.Config{Strategy: "slab", Align: 64}, []fuzz.Option{fuzz.Align(64)}},
	{"report", slab.Config{Strategy: "slab", OnForget: "report"}, nil},
	{"reserve", slab.Config{Strategy: "slab", Reserve: "8KiB"}, nil},
	{"reserve, few held", slab.Config{Strategy: "bestfit", Reserve: "8KiB", MaxHeld: 20 << 10}, nil},
}

func TestPoolsByConfig(t *testing.T) {
	for _, c := range configs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkPools(t, c.config, []string{"", "heap", "mmap"}, c.options...)
		})
	}
}

// The heap promises no more than 64 bytes; other memory can be aligned to pages.
func TestPoolsAlignedToPages(t *testing.T) {
	for _, name := range []string{"sizeclass", "bestfit", "slab"} {
		open := pool(slab.Config{Strategy: name, Align: 4096})
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckPool(t, open, fuzz.Align(4096))
		})
		t.Run(name+",mmap", func(t *testing.T) {
			t.Parallel()
			fuzz.CheckPool(t, open, fuzz.Align(4096), fuzz.OnDevice(opener("mmap")))
		})
	}
}

// FuzzPool lets the fuzzer choose the program, the strategy and the device.
func FuzzPool(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		name := rapid.SampledFrom(slab.Strategies()).Draw(t, "strategy")
		dev := rapid.SampledFrom([]string{"heap", "mmap", "virtual", "sim", "sim:late=1"}).Draw(t, "device")
		fuzz.PoolProperty(pool(slab.Config{Strategy: name}), fuzz.OnDevice(opener(dev)))(t)
	}))
}
