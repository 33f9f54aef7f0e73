package planner

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/trace"
)

// random returns n blocks that come and go at random.
func random(r *rand.Rand, n int) []trace.Op {
	l := make([]life, n)
	for i := range l {
		start := r.Float64()
		l[i] = life{1 + r.IntN(1<<r.IntN(16)), start, start + r.ExpFloat64()/50}
	}
	return opsOf(l)
}

// checkPlaces fails if blocks that live at the same time share bytes, or the height is wrong.
func checkPlaces(t *testing.T, s *search) {
	t.Helper()
	top := int64(0)
	for i := range s.blocks {
		b, off := &s.blocks[i], s.best[i]
		if off == nowhere {
			continue
		}
		top = max(top, off+b.size)
		if off < 0 || off%16 != 0 {
			t.Fatalf("block %d at %d", i, off)
		}
		for j := range s.blocks[:i] {
			if c := &s.blocks[j]; s.best[j] != nowhere && b.overlaps(c) && off < s.best[j]+c.size && s.best[j] < off+b.size {
				t.Fatalf("blocks %+v at %d and %+v at %d", b, off, c, s.best[j])
			}
		}
	}
	if top != s.height {
		t.Fatalf("the top is %d, not %d", top, s.height)
	}
}

// rounds is Options.More that says yes so often.
func rounds(n int) func() bool {
	return func() bool { n--; return n >= 0 }
}

// searched plans for ops, with an interval tree or without.
func searched(t *testing.T, ops []trace.Op, o Options, tree bool) *search {
	t.Helper()
	r, err := read(slices.Values(ops), 16)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(r, o)
	if tree {
		s.tree = newOverlap(s.blocks)
	}
	s.run()
	return s
}

// Blocks that live at the same time share no bytes. The interval tree changes nothing but
// the speed, and local search makes a plan lower if anything.
func TestPlansAreValid(t *testing.T) {
	lower := 0
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		ops := random(r, 400)
		if seed >= 5 { // harder ones, for which there is something to search
			l := lives(random(r, 100))
			for i := range l {
				l[i].size, l[i].end = 3000+r.IntN(9000), l[i].end+20
			}
			ops = opsOf(l)
		}
		rules := searched(t, ops, Options{}, false)
		long := searched(t, ops, Options{More: rounds(300)}, false)
		for _, s := range []*search{rules, long} {
			checkPlaces(t, s)
			if s.height < s.floor || !s.complete {
				t.Errorf("%d bytes, below the floor of %d", s.height, s.floor)
			}
		}
		if tree := searched(t, ops, Options{}, true); !slices.Equal(tree.best, rules.best) {
			t.Error("another plan with the tree")
		}
		if long.height > rules.height {
			t.Errorf("search made %d of %d bytes", long.height, rules.height)
		} else if long.height < rules.height {
			lower++
		}
	}
	if lower < 3 {
		t.Errorf("search made %d of 10 plans lower", lower)
	}
}

// The tree finds the placed blocks that overlap, and no others.
func TestOverlapFindsWhatOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	rec, _ := read(slices.Values(random(r, 300)), 16)
	o := newOverlap(rec.blocks)
	placed := map[int32]bool{}
	for range 300 {
		i := int32(r.IntN(len(rec.blocks)))
		o.add(i)
		placed[i] = true
		b := &rec.blocks[r.IntN(len(rec.blocks))]
		var got, want []int32
		o.each(b, func(i int32) { got = append(got, i) })
		for i := range rec.blocks {
			if placed[int32(i)] && b.overlaps(&rec.blocks[i]) {
				want = append(want, int32(i))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v overlaps %d, found %d", b, want, got)
		}
	}
}

// Blocks that do not fit below the ceiling, or for which there is no time, stay without a place:
// the smallest, and of a size all or none. They leave no gaps.
func TestTheSmallestBlocksAreLeftOut(t *testing.T) {
	ops := random(rand.New(rand.NewPCG(3, 1)), 2000)
	whole := searched(t, ops, Options{}, false)
	for what, o := range map[string]Options{"ceiling": {Ceiling: whole.floor - 1}, "time": {More: rounds(3)}} {
		s := searched(t, ops, o, false)
		checkPlaces(t, s)
		least, most, out := math.MaxInt, 0, 0
		for i := range s.blocks {
			if n := s.blocks[i].asked; s.best[i] == nowhere {
				most = max(most, n)
				out++
			} else {
				least = min(least, n)
			}
		}
		if out == 0 || out == len(s.blocks) || least <= most || s.complete || o.Ceiling > 0 && s.height > o.Ceiling {
			t.Errorf("%s: %d of %d blocks are left out, of up to %d bytes, but %d have a place; %d bytes", what, out, len(s.blocks), most, least, s.height)
		}
	}
	for seed := range uint64(20) { // many sizes, of which some are the same when aligned
		l := lives(random(rand.New(rand.NewPCG(seed, 2)), 300))
		for i := range l {
			l[i].size = 8192 + l[i].size%256
		}
		tr := traceOf(t, opsOf(l))
		p, err := Make(tr, Options{})
		if err == nil {
			p, err = Make(tr, Options{Ceiling: p.Floor * 7 / 8})
		}
		if err != nil || !p.file.Dense() || p.Blocks == 0 {
			t.Errorf("seed %d: %d blocks, dense %v, %v", seed, p.Blocks, p.file.Dense(), err)
		}
	}
	if s := searched(t, ops, Options{Ceiling: whole.height}, false); !s.complete || s.height != whole.height {
		t.Errorf("a ceiling of %d bytes made them %d", whole.height, s.height)
	}
}

// Each step has hints of its own. Blocks that are never freed live to the end; blocks of no
// bytes have no place.
func TestStepsHaveTheirOwnHints(t *testing.T) {
	rows := "a,0,100\ns,,\na,1,50\na,2,0\nf,2,0\nf,1,50\ns,,\na,3,50\nf,3,50\n"
	p, err := Make(readTrace(t, rows), Options{Align: 64})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil || !strings.HasPrefix(b.String(), "bufslab plan 1\n100 0\nstep\n50 128\nstep\n50 128\nend ") {
		t.Errorf("%q, %v", b.String(), err)
	}
	if p.Floor != 192 || p.Height != 192 || p.Blocks != 3 {
		t.Errorf("%+v", p)
	}
}

func TestMakeOfOtherTraces(t *testing.T) {
	if _, err := Make(readTrace(t, "g,k,5\n"), Options{}); !errors.Is(err, trace.ErrKeyed) {
		t.Errorf("a keyed trace: %v", err)
	}
	if p, err := Make(readTrace(t, "op,id,size\n"), Options{}); err != nil || p.Height != 0 || p.Blocks != 0 {
		t.Errorf("an empty trace: %+v, %v", p, err)
	}
	more := func() bool { return true } // for ever: there is nothing to search for
	for _, rows := range []string{"op,id,size\n", "s,,\ns,,\n", "a,0,0\nf,0,0\n"} {
		if p, err := Make(readTrace(t, rows), Options{More: more}); err != nil || p.Height != 0 || p.Blocks != 0 {
			t.Errorf("%q: %+v, %v", rows, p, err)
		}
	}
}

// Blocks that together have more bytes than can be counted have no plan, and no place ends beyond.
func TestMakeOfWhatCannotBeCounted(t *testing.T) {
	if math.MaxInt < math.MaxInt64 {
		return // all that an int is can be counted
	}
	const most, half = math.MaxInt, math.MaxInt/2 - 7 // half is aligned to 2^62
	for _, sizes := range [][]int{{most}, {most - 20, 10, 10}, {half, half, 1}} {
		rows := ""
		for id, size := range sizes {
			rows += fmt.Sprintf("a,%d,%d\n", id, size)
		}
		if p, err := Make(readTrace(t, rows), Options{}); !errors.Is(err, trace.ErrSize) {
			t.Errorf("%v: %+v, %v", sizes, p, err)
		}
	}
	// Never more than fits at a time, but first come first placed has no place for the last one.
	ops := readTrace(t, fmt.Sprintf("a,0,%d\na,1,%d\nf,0,\na,2,%d\nf,1,\nf,2,\n", half/2, half/2, half+half/2-64)).Ops()
	r, err := read(ops, 16)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(r, Options{})
	if s.try([]int32{0, 1, 2}); s.best[2] != nowhere {
		t.Errorf("a block of %d bytes at %d", s.blocks[2].size, s.best[2])
	}
}

func readTrace(t *testing.T, rows string) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(rows), "t")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Save compresses by the name, and fails where it cannot write.
func TestSave(t *testing.T) {
	p, _ := Make(traceOf(t, random(rand.New(rand.NewPCG(2, 1)), 50)), Options{})
	dir := t.TempDir()
	for _, name := range []string{"plan", "plan.gz"} {
		if err := p.Save(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	plain, _ := os.ReadFile(filepath.Join(dir, "plan"))
	f, _ := os.Open(filepath.Join(dir, "plan.gz"))
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if unpacked, err := io.ReadAll(z); err != nil || len(plain) == 0 || !bytes.Equal(plain, unpacked) {
		t.Errorf("%d bytes, and %d compressed, %v", len(plain), len(unpacked), err)
	}
	if err := p.Save(filepath.Join(dir, "none", "plan")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The traces that exact solvers find hard: less than a third above the floor after a short
// search, where best fit without a plan needs about twice as much.
func TestSearchPlansForHardTraces(t *testing.T) {
	for _, name := range []string{"minimalloc-A", "minimalloc-B", "minimalloc-C", "minimalloc-D", "minimalloc-E"} {
		p, err := Make(traceOf(t, load(t, name)), Options{More: rounds(1500)})
		if err != nil {
			t.Fatal(err)
		}
		if r := float64(p.Height) / float64(p.Floor); r > 1.3 {
			t.Errorf("%s: %.3f", name, r)
		} else {
			t.Logf("%s: %.3f", name, r)
		}
	}
}
