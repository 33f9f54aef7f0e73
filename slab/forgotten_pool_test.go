package slab

import (
	"bytes"
	"errors"
	"testing"
)

// abandoned opens a pool, gets a buffer of it, forgets the Pool, and returns the buffer when the
// collector has found that.
func abandoned(t *testing.T, c Config, n int) PooledBuffer {
	t.Helper()
	p, err := OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	b, inner := mustGet(t, p, n), p.pool
	p = nil
	eventually(t, "the pool is abandoned", func() bool { cycle(); return inner.ended.Load() })
	return b
}

// What a buffer can do it can do until it is released, though the Pool was forgotten.
func TestBuffersOfAForgottenPoolDoAllTheyCould(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.Device = dev
		for _, c.Zero = range []bool{false, true} {
			b := abandoned(t, c, 5000)
			share, err := b.Share()
			if err != nil {
				t.Fatal(err)
			}
			part, err := share.Slice(10, 300)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []*PooledBuffer{&b, &share, &part} {
				doAll(t, dev, x)
			}
			p := poolOf(b.slot)
			releaseAll(t, []PooledBuffer{part, b, share})
			checkNothing(t, &Pool{p})
			if !p.deviceClosed.Load() {
				t.Error("the device is open")
			}
		}
	})
}

// doAll calls every method of a handle but Release.
func doAll(t *testing.T, dev string, b *PooledBuffer) {
	t.Helper()
	fill := func(m []byte) { copy(m, bytes.Repeat([]byte{0xA7}, len(m))) }
	if err := errors.Join(b.With(fill), b.UsedOn(&queue{})); err != nil {
		t.Error(err)
	}
	if b.Cap() < b.Len() || b.Block().Region == nil {
		t.Errorf("cap %d of %d bytes, %v", b.Cap(), b.Len(), b.Block())
	}
	for _, n := range []int{b.Len() + 1, 3 * b.Len(), 100 << 10, 200} { // in place, and elsewhere
		if dev == "virtual" {
			break // which cannot copy
		}
		c, err := b.Grow(n)
		if err != nil || c.Len() != n {
			t.Fatalf("Grow to %d bytes: %v", n, err)
		}
		*b = c
	}
	if m := b.Bytes(); m != nil && dev != "virtual" && !bytes.Equal(m, bytes.Repeat([]byte{0xA7}, len(m))) {
		t.Error("the contents are lost")
	}
	b.Hide()
}

// After Close nothing grows, also where the Pool is forgotten then.
func TestAClosedPoolThatIsForgottenIsClosed(t *testing.T) {
	p := openLine(t, "device=heap")
	b := mustGet(t, p, 100)
	inner := p.pool
	closeWithLeaks(t, p, 1)
	(*pool).abandon(inner)
	p = nil
	cycle()
	if _, err := b.Grow(200); err != ErrClosed {
		t.Error(err)
	}
	mustRelease(t, b)
}

// A loop that uses only the buffer may outlive the Pool.
func TestALoopOfGrowsOutlivesThePool(t *testing.T) {
	b := abandoned(t, Config{Device: "mmap"}, 1)
	for n := 1; n < 1<<20; n += n/2 + 1 {
		c, err := b.Grow(n)
		if err != nil {
			t.Fatal(err)
		}
		c.Bytes()[n-1] = 1
		if b = c; n%7 == 0 {
			cycle()
		}
	}
	mustRelease(t, b)
}
