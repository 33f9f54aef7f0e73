package fuzz_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// A factory makes a strategy over an upstream.
type factory = func(upstream slab.Allocator) slab.Allocator

// with is a factory for a strategy by its name.
func with(name string, c slab.Config) factory {
	return func(u slab.Allocator) slab.Allocator {
		s, err := slab.NewStrategy(name, u, c)
		if err != nil {
			panic(err)
		}
		return s
	}
}

func TestStrategies(t *testing.T) {
	for _, name := range slab.Strategies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckAllocator(t, with(name, slab.Config{}), fuzz.Hostile())
		})
	}
}

func TestStrategiesWithBounds(t *testing.T) {
	for name, c := range map[string]slab.Config{
		"exact":     {MaxHeldBlocks: 2, MaxBlockBytes: 4 << 10},
		"bitlog":    {MaxHeld: 20 << 10, Bits: 2},
		"sizeclass": {MaxHeld: 100 << 10, Steps: 8, MaxBlockBytes: 40 << 10},
		"bestfit":   {MaxHeld: 20 << 10, Align: 64},
		"slab":      {MaxHeld: 20 << 10, Align: 256},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckAllocator(t, with(name, c), fuzz.Hostile(), fuzz.Align(max(1, c.Align)))
		})
	}
}

func TestStrategiesThatGrow(t *testing.T) {
	for _, name := range []string{"bestfit", "slab"} {
		for kind, o := range map[string]fuzz.Option{"ranges": fuzz.Ranges(), "segments": fuzz.NoRange()} {
			for _, c := range []slab.Config{{}, {MissTarget: 0.5}} {
				t.Run(name+","+kind, func(t *testing.T) {
					t.Parallel()
					fuzz.CheckAllocator(t, with(name, c), o, fuzz.Align(16), fuzz.Hostile())
				})
			}
		}
	}
}

func TestStrategiesOnSmallBlocks(t *testing.T) {
	for _, name := range slab.Strategies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckAllocator(t, with(name, slab.Config{}), fuzz.MaxSize(2000), fuzz.Capacity(40_000))
		})
	}
}

// What the device refuses is no fault of the strategy.
func TestStrategiesOnDevicesOfLessThanIsAsked(t *testing.T) {
	for _, dev := range []string{"sim:16KiB", "virtual:16KiB"} {
		for _, name := range slab.Strategies() {
			t.Run(dev+","+name, func(t *testing.T) {
				t.Parallel()
				fuzz.CheckAllocator(t, with(name, slab.Config{}), fuzz.OnDevice(opener(dev)))
			})
		}
	}
}

func TestWrappers(t *testing.T) {
	wrappers := map[string]factory{
		"limit": func(u slab.Allocator) slab.Allocator { return slab.NewLimit(u, 300<<10) },
	}
	for name, wrap := range wrappers {
		for _, inner := range []string{"sizeclass", "slab"} {
			t.Run(name+","+inner, func(t *testing.T) {
				t.Parallel()
				fuzz.CheckAllocator(t, func(u slab.Allocator) slab.Allocator {
					return wrap(with(inner, slab.Config{})(u))
				}, fuzz.Hostile())
			})
		}
		t.Run("alone,"+name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckAllocator(t, func(u slab.Allocator) slab.Allocator { return opaque{wrap(u)} })
		})
	}
	t.Run("sizeclass,limit", func(t *testing.T) {
		t.Parallel()
		fuzz.CheckAllocator(t, func(u slab.Allocator) slab.Allocator {
			return with("sizeclass", slab.Config{})(slab.NewLimit(u, 300<<10))
		}, fuzz.MaxBytes(300<<10))
	})
	t.Run("slab,limit", func(t *testing.T) {
		t.Parallel()
		fuzz.CheckAllocator(t, func(u slab.Allocator) slab.Allocator {
			return with("slab", slab.Config{})(slab.NewLimit(u, 300<<10))
		}, fuzz.MaxBytes(300<<10))
	})
}

// opaque hides what else a wrapper has: over an upstream that is no strategy
// its Usage knows nothing.
type opaque struct{ slab.Allocator }

// A stack is a strategy on another that gives back what both hold.
type stack struct {
	slab.Allocator
	inner slab.Allocator
}

func (s stack) FreeHeld()    { s.each(slab.Holder.FreeHeld) }
func (s stack) StopHolding() { s.each(slab.Holder.StopHolding) }

func (s stack) each(f func(slab.Holder)) {
	for _, a := range []slab.Allocator{s.Allocator, s.inner} {
		if h, is := a.(slab.Holder); is {
			f(h)
		}
	}
}

func TestStacks(t *testing.T) {
	for _, names := range [][2]string{
		{"exact", "slab"}, {"bestfit", "bestfit"}, {"sizeclass", "slab"}, {"slab", "sizeclass"},
		{"bitlog", "bestfit"}, {"direct", "sizeclass"}, {"sizeclass", "sizeclass"}, {"slab", "slab"},
	} {
		t.Run(names[0]+","+names[1], func(t *testing.T) {
			t.Parallel()
			fuzz.CheckAllocator(t, func(u slab.Allocator) slab.Allocator {
				inner := with(names[1], slab.Config{})(u)
				return stack{with(names[0], slab.Config{})(inner), inner}
			}, fuzz.Hostile())
		})
	}
}

// FuzzAllocator lets the fuzzer choose the program and the strategy.
func FuzzAllocator(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		name := rapid.SampledFrom(slab.Strategies()).Draw(t, "strategy")
		fuzz.AllocatorProperty(with(name, slab.Config{}), fuzz.Hostile())(t)
	}))
}

// A Config without Align means any address, and its number is an option as it is.
func TestAlignOfAConfigWithout(t *testing.T) {
	quick(t)
	model.Set(t, "rapid.checks", "20")
	c := slab.Config{}
	if text := verdict(t, fuzz.AllocatorProperty(with("direct", c), fuzz.Align(c.Align))); text != "" {
		t.Error(text)
	}
}

// An option that no check can keep to panics, and says why: a program drawn from it would fail somewhere else.
func TestOptionsThatCannotBe(t *testing.T) {
	for says, option := range map[string]func() fuzz.Option{
		"fuzz: Align to 3, which is no power of two":       func() fuzz.Option { return fuzz.Align(3) },
		"fuzz: Align to -16, which is no power of two":     func() fuzz.Option { return fuzz.Align(-16) },
		"fuzz: MaxSize of 0 bytes, which is less than one": func() fuzz.Option { return fuzz.MaxSize(0) },
	} {
		func() {
			defer func() {
				if said := recover(); said != says {
					t.Errorf("%v, not: %s", said, says)
				}
			}()
			option()
		}()
	}
}
