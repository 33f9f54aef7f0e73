package slab

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
)

// If there is no room, or the pool is closed, b is as before.
func TestGrowThatFailsChangesNothing(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.MaxBytes = 1 << 20
		p := openPool(t, dev, c)
		b := mustGet(t, p, 5000)
		before := p.Stats()
		_, negative := b.Grow(-1)
		_, large := b.Grow(2 << 20)
		_, absurd := b.Grow(math.MaxInt)
		var full *OutOfMemoryError
		if !errors.Is(negative, ErrSize) || !errors.As(large, &full) || full.Size != 2<<20 || !outOfMemory(absurd) {
			t.Errorf("%v; %v; %v", negative, large, absurd)
		}
		now := p.Stats()
		if now.ActiveBytes != 5000 || now.ActiveBlocks != 1 || now.ManagedBytes > before.ManagedBytes {
			t.Errorf("%+v became %+v", before, now)
		}
		if err := p.Close(); err == nil {
			t.Error("no leak")
		}
		if c, err := b.Grow(b.Cap() + 1); err != ErrClosed || c != b {
			t.Errorf("of a closed pool: %v, %v", c, err)
		}
		b = mustGrow(t, b, b.Cap()) // takes no memory
		cut, err := b.Grow(10)
		if err != nil || cut.Len() != 10 {
			t.Errorf("to fewer bytes, in a closed pool: %d, %v", cut.Len(), err)
		}
		part, err := cut.Slice(2, 8)
		if err != nil {
			t.Error(err)
		}
		if _, err := part.Grow(3); err != ErrClosed { // of a part it does
			t.Errorf("of a part in a closed pool: %v", err)
		}
		mustRelease(t, part)
		b = cut
		mustRelease(t, b)
		checkNothing(t, p)
	})
	if _, err := (PooledBuffer{}).Grow(0); err != ErrReleased {
		t.Errorf("of the zero PooledBuffer: %v", err)
	}
}

// Of all Grows and Releases of one buffer one succeeds, in place or not. Those that With
// keeps from ending the generation at once are among them.
func TestOfAllGrowsAndReleasesOneCounts(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if dev == "virtual" {
			t.Skip("nothing can be copied")
		}
		p := openPool(t, dev, c)
		for round := range 60 {
			b := mustGet(t, p, 1000)
			var won atomic.Int64
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					switch i {
					case 0:
						if b.Release() == nil {
							won.Add(1)
						}
					case 1:
						_ = b.With(func([]byte) { b.Cap() })
					default:
						c, err := b.Grow(1000 + 3000*(i+round%2))
						if err == nil {
							won.Add(1)
							mustRelease(t, c)
						} else if err != ErrReleased {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d won", won.Load())
			}
		}
		checkNoneOut(t, p)
	})
}

// While With runs Grow copies, and the old memory stays until that returns.
func TestGrowWithinWith(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if dev == "virtual" {
			t.Skip("nothing can be copied")
		}
		p := openPool(t, dev, c)
		b := mustGet(t, p, 1000)
		at := where(b)
		var grown PooledBuffer
		if err := b.With(func(m []byte) {
			grown = mustGrow(t, b, 1001)
			if m != nil {
				m[0] = 9
			}
			others := []PooledBuffer{mustGet(t, p, 1000), mustGet(t, p, 1000)}
			for _, o := range append(others, grown) {
				if dev != "heap" && where(o) == at {
					t.Error("memory that With uses has another owner")
				}
			}
			releaseAll(t, others)
			if s := p.Stats(); s.ActiveBlocks != 2 {
				t.Errorf("%+v", s)
			}
		}); err != nil {
			t.Error(err)
		}
		mustRelease(t, grown)
		checkNoneOut(t, p)
	})
}

// A stream that panics as Grow waits for it loses nothing: the new buffer goes back.
func TestGrowThatPanicsAsItCopies(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := used(t, mustGet(t, p, 1000), &panickyStream{})
	b.Bytes()[999] = 7
	if !doesPanic(func() { b.Grow(5000) }) {
		t.Fatal("no panic")
	}
	if s := p.Stats(); s.ActiveBlocks != 1 || s.ActiveBytes != 1000 || b.Bytes()[999] != 7 {
		t.Errorf("%+v", s)
	}
	checkQuiet(t, p)
	mustRelease(t, b)
	checkNoneOut(t, p)
}

// A panickyStream panics where Grow waits for it.
type panickyStream struct{ queue }

func (*panickyStream) Sync() error { panic("told to") }

// What has to be cleared on a device is cleared in a new buffer, though the block has room.
func TestGrowThatClearsDeviceMemoryNeedsRoom(t *testing.T) {
	p := openPool(t, "sim", Config{Strategy: "direct", Zero: true, MaxBytes: 1000})
	b, err := mustGet(t, p, 600).Grow(100)
	if err != nil || b.Cap() != 600 {
		t.Fatalf("Cap %d, %v", b.Cap(), err)
	}
	if b, err = b.Grow(500); !outOfMemory(err) || b.Len() != 100 { // the variable keeps the buffer
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	at := where(b)
	if b, err = b.Grow(100); err != nil || where(b) != at || b.Cap() != 600 {
		t.Fatalf("as many bytes as before have moved, Cap %d, %v", b.Cap(), err)
	}
	if b, err = b.Grow(300); err != nil || b.Cap() != 300 {
		t.Fatalf("Cap %d, %v", b.Cap(), err)
	}
	mustRelease(t, b)
}
