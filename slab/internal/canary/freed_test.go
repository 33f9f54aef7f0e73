package canary

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/poison"
)

// Of freed blocks that are handed out in other pieces each byte is verified once, and what is left stays: a model has a
// history for each byte.
func TestFreedLikeAModel(t *testing.T) {
	const size = 64
	random := rand.New(rand.NewPCG(1, 2))
	f := &freed{parts: map[device.Region][]part{}}
	r := mustAlloc(t, &upstreamtest.Source{}, size).Region
	var model [size]*history
	for range 3000 {
		lo := random.IntN(size)
		b := device.Block{Region: r, Off: lo, Len: 1 + random.IntN(size-lo)}
		var want, got [size]*history
		for i := b.Off; i < b.Off+b.Len; i++ {
			want[i], model[i] = model[i], nil
		}
		for _, p := range f.cut(b) {
			if p.off >= p.end {
				t.Fatalf("an empty part, %+v", p)
			}
			for i := p.off; i < p.end; i++ {
				if got[i] != nil {
					t.Fatalf("byte %d twice", i)
				}
				got[i] = p.of
			}
		}
		if got != want {
			t.Fatalf("of %+v: %v, want %v", b, got, want)
		}
		if random.IntN(2) == 0 { // it is free again
			h := &history{}
			f.add(r, part{b.Off, b.Off + b.Len, h})
			for i := b.Off; i < b.Off+b.Len; i++ {
				model[i] = h
			}
		}
	}
}

// What is forgotten is the part that begins at a place, of one block; not what is left of a longer part, or was freed
// there since.
func TestForgetIsOfOnePart(t *testing.T) {
	f := &freed{parts: map[device.Region][]part{}}
	r, other := mustAlloc(t, &upstreamtest.Source{}, 300).Region, mustAlloc(t, &upstreamtest.Source{}, 300).Region
	a, b := &history{}, &history{got: "b"}
	f.add(r, part{0, 100, a})
	f.add(r, part{100, 200, b})
	for i, c := range []struct {
		at   partAt
		left int
	}{
		{partAt{other, 0, a}, 2}, {partAt{r, 200, b}, 2}, {partAt{r, 0, b}, 2}, {partAt{r, 50, a}, 2}, {partAt{r, 100, a}, 2},
		{partAt{r, 0, a}, 1}, {partAt{r, 0, a}, 1}, {partAt{r, 100, b}, 0}, {partAt{r, 100, b}, 0},
	} {
		if f.forget(c.at); len(f.parts[r]) != c.left {
			t.Errorf("step %d: %d parts are left, not %d", i, len(f.parts[r]), c.left)
		}
	}
	if len(f.parts) != 0 {
		t.Errorf("%d regions are left", len(f.parts))
	}
}

// All of a block is poison where all of it was in freed blocks, whatever blocks these were.
func TestWrittenSaysWhatIsPoison(t *testing.T) {
	b := mustAlloc(t, &upstreamtest.Source{Host: true}, 100)
	device.Fill(device.Bytes(b), poison.Freed)
	piece := func(off, n int) device.Block { return device.Block{Region: b.Region, Off: off, Len: n} }
	for hole, want := range map[int]bool{0: true, 1: false} {
		f := &freed{parts: map[device.Region][]part{}}
		f.enter(piece(0, 50), &history{})
		f.enter(piece(50+hole, 50-hole), &history{})
		if found, poisoned := f.written(b); found != nil || poisoned != want {
			t.Errorf("with %d bytes that were not free: %v, %q", hole, poisoned, found)
		}
	}
	f := &freed{parts: map[device.Region][]part{}}
	f.enter(piece(0, 50), &history{block: b})
	f.enter(piece(50, 50), &history{block: b})
	device.Bytes(b)[0]++
	device.Bytes(b)[50]++
	if found, poisoned := f.written(b); len(found) != 2 || !poisoned {
		t.Errorf("two parts are written at their first byte: %q", found)
	}
	if found, poisoned := (*freed)(nil).written(b); found != nil || poisoned {
		t.Errorf("%q, %v where none is remembered", found, poisoned)
	}
}
