package pageheap

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// walkMap allocates and frees extents of a page heap at random and calls f with
// one of those that are used, after each step.
func walkMap(t *testing.T, seed uint64, f func(r *rand.Rand, p *program, i int32)) {
	r := rand.New(rand.NewPCG(seed, 7))
	p := start(&pages{RangeBytes: 256 << 10}, Options{})
	var live []int32
	for range 800 {
		if n := len(live); n > 0 && r.IntN(5) < 2 {
			p.Heap.Free(takeAt(&live, r.IntN(n)))
		} else {
			p.Lock()
			i, err := p.Alloc(1 + r.IntN(1<<r.IntN(15)))
			p.Unlock()
			if err != nil {
				t.Fatal(err)
			}
			live = append(live, i)
		}
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		if len(live) > 0 {
			f(r, p, live[r.IntN(len(live))])
		}
	}
}

// Every byte of an extent of up to MaxSpanBytes is found in it, whatever came
// and went around it, and so is the first of a longer one.
func TestPageMapLikeAModel(t *testing.T) {
	for seed := range uint64(8) {
		walkMap(t, seed, func(r *rand.Rand, p *program, i int32) {
			n := p.Len(i)
			offs := []int{0, r.IntN(n), n - 1}
			if n > MaxSpanBytes {
				offs = []int{0}
			}
			for _, off := range offs {
				b := p.Block(i, off, 1)
				if got, at := p.Locate(b, 0); got != i || at != off {
					t.Fatalf("byte %d of extent %d %+v is byte %d of %d", off, i, *p.at(i), at, got)
				}
			}
		})
	}
}

// What reaches beyond its extent is in none, and a guess is the only place to look.
func TestLocateWantsTheWholeBlockInOneExtent(t *testing.T) {
	walkMap(t, 9, func(r *rand.Rand, p *program, i int32) {
		n, other := p.Len(i), p.at(i).next
		if got, _ := p.Locate(p.Block(i, r.IntN(n), n+1), 0); got != none {
			t.Fatalf("a block beyond extent %d is in %d", i, got)
		}
		for _, guess := range []int32{i, other, -1, int32(len(p.records)), 1 << 30} {
			want := int32(none)
			if guess == i {
				want = i
			}
			if got, _ := p.Locate(p.Block(i, 0, n), guess); got != want {
				t.Fatalf("with a guess of %d extent %d is %d", guess, i, got)
			}
		}
	})
}

func TestFreeMemoryIsInNoExtent(t *testing.T) {
	p := start(&pages{}, Options{})
	a, b := p.mustAlloc(t, 5000), p.mustAlloc(t, 100)
	p.free(a)
	for _, at := range []device.Block{a, {Region: b.Region, Off: b.Off + 200, Len: 1}, {Region: b.Region, Off: 1 << 19, Len: 1}, upstreamtest.Block(1), {}} {
		if i, _ := p.Locate(at, 0); i != none {
			t.Errorf("%+v is in extent %d", at, i)
		}
	}
}

// Of an extent longer than MaxSpanBytes what begins a page beyond that is not looked for.
func TestTheSearchForABlockEnds(t *testing.T) {
	p, _ := onRange()
	b := p.mustAlloc(t, 4*MaxSpanBytes)
	for off, want := range map[int]bool{MaxSpanBytes: true, MaxSpanBytes + page: false, 3 * MaxSpanBytes: false} {
		if i, at := p.Locate(device.Block{Region: b.Region, Off: b.Off + off, Len: 1}, 0); (i != none) != want || want && at != off {
			t.Errorf("byte %d of a long extent is byte %d of extent %d", off, at, i)
		}
	}
}
