package fuzz_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/slab"
)

// A strategy is what sizeclass has.
type strategy interface {
	slab.Allocator
	slab.Holder
	slab.Trimmer
	slab.UsageReporter
}

// A broken is a correct strategy with one fault put in: a function here stands
// in for the method.
type broken struct {
	strategy
	upstream slab.Allocator
	alloc    func(b *broken, size int) (device.Block, error)
	free     func(b *broken, blk device.Block)
	freeHeld func(b *broken)
	stop     func(b *broken)
	usage    func(slab.Usage) slab.Usage

	last  device.Block // handed out last
	calls int
}

func (b *broken) Alloc(size int) (device.Block, error) {
	b.calls++
	if b.alloc != nil && size != 0 {
		return b.alloc(b, size)
	}
	return b.strategy.Alloc(size)
}

func (b *broken) Free(blk device.Block) {
	if b.free != nil {
		b.free(b, blk)
		return
	}
	b.strategy.Free(blk)
}

func (b *broken) FreeHeld() {
	if b.freeHeld != nil {
		b.freeHeld(b)
		return
	}
	b.strategy.FreeHeld()
}

func (b *broken) StopHolding() {
	if b.stop != nil {
		b.stop(b)
		return
	}
	b.strategy.StopHolding()
}

func (b *broken) Usage() slab.Usage {
	if b.usage != nil {
		return b.usage(b.strategy.Usage())
	}
	return b.strategy.Usage()
}

// everyFifth has alloc misbehave now and then.
func everyFifth(alloc func(b *broken, size int) (device.Block, error)) func(b *broken, size int) (device.Block, error) {
	return func(b *broken, size int) (device.Block, error) {
		if b.calls%5 == 0 {
			return alloc(b, size)
		}
		blk, err := b.strategy.Alloc(size)
		b.last = blk
		return blk, err
	}
}

// faults are classes of mistakes, and a word of what is to be said of each.
var faults = []struct {
	name, says string // says is a pattern
	broken     broken
}{
	{"no room for more than a page", "refused nothing", broken{alloc: func(b *broken, size int) (device.Block, error) {
		if size > 4<<10 {
			return device.Block{}, device.ErrOutOfMemory
		}
		return b.strategy.Alloc(size)
	}}},
	{"overlap", "overlap", broken{alloc: everyFifth(func(b *broken, size int) (device.Block, error) {
		blk, err := b.strategy.Alloc(2 * size)
		if err == nil && b.last.Region != nil {
			b.last.Len = min(size, b.last.Len)
			return b.last, nil
		}
		return blk, err
	})}},
	{"a block handed out twice", "are out in|overlap|did not give", broken{alloc: everyFifth(func(b *broken, size int) (device.Block, error) {
		if b.last.Len == size {
			return b.last, nil
		}
		return b.strategy.Alloc(size)
	})}},
	{"memory of its own", "upstream did not give", broken{alloc: everyFifth(func(b *broken, size int) (device.Block, error) {
		heap, err := device.Open("heap")
		if err != nil {
			return device.Block{}, err
		}
		return heap.Alloc(size)
	})}},
	{"a block too long", "gave a block of", broken{alloc: everyFifth(func(b *broken, size int) (device.Block, error) {
		blk, err := b.strategy.Alloc(size)
		if err == nil {
			blk.Len++
		}
		return blk, err
	})}},
	{"a block freed while out", "upstream did not give", broken{alloc: everyFifth(func(b *broken, size int) (device.Block, error) {
		blk, err := b.upstream.Alloc(size)
		if err == nil {
			defer b.upstream.Free(blk)
		}
		return blk, err
	})}},
	{"contents overwritten", "another owner wrote", broken{free: func(b *broken, blk device.Block) {
		b.strategy.Free(blk)
		if m := device.Bytes(b.last); len(m) > 0 && b.last != blk {
			m[len(m)-1]++
		}
	}, alloc: everyFifth(func(b *broken, size int) (device.Block, error) { return b.strategy.Alloc(size) })}},
	{"a double free swallowed", "did not panic", broken{free: func(b *broken, blk device.Block) {
		defer func() { _ = recover() }()
		b.strategy.Free(blk)
	}}},
	{"memory never given back", "are held after FreeHeld", broken{freeHeld: func(*broken) {}}},
	{"holding on after StopHolding", "are held after StopHolding", broken{stop: (*broken).FreeHeld}},
	{"a leak", "Usage adds up to|more are out|went upstream", broken{alloc: everyFifth(func(b *broken, size int) (device.Block, error) {
		_, _ = b.upstream.Alloc(1)
		return b.strategy.Alloc(size)
	})}},
	{"a failure not passed on", "does not wrap", broken{alloc: func(b *broken, size int) (device.Block, error) {
		blk, err := b.strategy.Alloc(size)
		if err != nil {
			return blk, errors.New("no")
		}
		return blk, nil
	}}},
	{"a negative size taken", "slab.ErrSize", broken{alloc: func(b *broken, size int) (device.Block, error) {
		return b.strategy.Alloc(max(0, size))
	}}},
	{"sums that do not add up", "are out in", broken{usage: func(u slab.Usage) slab.Usage {
		u.ActiveBytes += u.RoundingBytes
		u.RoundingBytes = 0
		return u
	}}},
}

func TestFaultsAreFound(t *testing.T) {
	quick(t)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			text := verdict(t, fuzz.AllocatorProperty(func(u slab.Allocator) slab.Allocator {
				b := f.broken
				b.upstream, b.strategy = u, with("sizeclass", slab.Config{})(u).(strategy)
				return &b
			}))
			if !regexp.MustCompile(f.says).MatchString(text) {
				t.Errorf("no word of %q in %q", f.says, text)
			}
		})
	}
}

// A hoarder is the pile of the example, except that it does not part with what it holds
// when there is no room.
type hoarder struct{ *pile }

func (h hoarder) Alloc(size int) (device.Block, error) {
	if size == 0 || len(h.held[size]) > 0 {
		return h.pile.Alloc(size)
	}
	b, err := h.upstream.Alloc(size)
	if err == nil {
		h.out[b] = true
		h.usage.ActiveBlocks++
		h.usage.ActiveBytes += int64(size)
	}
	return b, err
}

func TestOutOfMemoryWhileHeldIsFound(t *testing.T) {
	quick(t)
	text := verdict(t, fuzz.AllocatorProperty(func(u slab.Allocator) slab.Allocator {
		return hoarder{newPile(u, slab.Config{}).(*pile)}
	}, fuzz.MaxSize(16<<10), fuzz.Capacity(40<<10)))
	if !strings.Contains(text, "in what is held") {
		t.Errorf("not found: %q", text)
	}
}
