package planner

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/internal/sharedtest"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// A life is an allocation of a trace, and when it is freed.
type life struct {
	size       int
	start, end float64
}

// lives returns the allocations of a trace.
func lives(ops []trace.Op) (l []life) {
	at := map[uint64]int{}
	for i, op := range ops {
		if op.Kind == trace.Free {
			l[at[op.ID]].end = float64(i)
			continue
		}
		at[op.ID] = len(l)
		l = append(l, life{op.Size, float64(i), float64(len(ops))})
	}
	return l
}

// noisy changes a share of the allocations: one of three is gone, one has the size of
// another, and one comes twice.
func noisy(r *rand.Rand, l []life, share float64) (changed []life) {
	for _, x := range l {
		if r.Float64() >= share {
			changed = append(changed, x)
			continue
		}
		y := l[r.IntN(len(l))]
		switch r.IntN(3) {
		case 0: // gone
		case 1:
			changed = append(changed, life{y.size, x.start, x.end})
		case 2:
			changed = append(changed, x, life{y.size, x.start + 0.5, x.start + 0.5 + y.end - y.start})
		}
	}
	return changed
}

// opsOf returns the events of allocations.
func opsOf(l []life) []trace.Op {
	type event struct {
		at float64
		op trace.Op
	}
	var events []event
	for i, x := range l {
		op := trace.Op{Kind: trace.Alloc, ID: uint64(i), Size: x.size}
		events = append(events, event{x.start, op})
		op.Kind = trace.Free
		events = append(events, event{x.end, op})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	ops := make([]trace.Op, len(events))
	for i, e := range events {
		ops[i] = e.op
	}
	return ops
}

// played returns the trace of allocations.
func played(t testing.TB, l []life) *trace.Trace {
	t.Helper()
	return traceOf(t, opsOf(l))
}

func traceOf(t testing.TB, ops []trace.Op) *trace.Trace {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	for _, op := range ops {
		if err := w.Write(op); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(&b, "played")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func replay(t testing.TB, tr *trace.Trace, line string) trace.Result {
	t.Helper()
	c, err := slab.ParseConfig(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := slab.OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := trace.Replay(tr, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tensors returns the traces of tensors and of a model server. Where heaps check themselves after
// each step, which takes minutes for 15,000, it returns the short ones.
func tensors() []string {
	if invariants.Enabled {
		return []string{"torch-ws_medium_128_inference", "somas-resnet50", "iopddl-G_1"}
	}
	return []string{"torch-ws_medium_128_inference", "torch-ws_medium_128_training", "torch-ws_medium_512_training",
		"somas-resnet50", "iopddl-G_1", "azure-llm-code"}
}

const without = "device=virtual,strategy=bestfit,cache_bytes=0"

// planned makes a plan by the rules alone and returns the line that uses it.
func planned(t testing.TB, tr []trace.Op) string {
	t.Helper()
	p, err := Make(traceOf(t, tr), Options{})
	file := filepath.Join(t.TempDir(), "plan.gz")
	if err == nil {
		err = p.Save(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "device=virtual,strategy=plan,plan=" + file
}

// With the plan of the same trace a pool needs at most a twentieth more than the program, and
// calls once. With a hundredth or a twentieth of the allocations changed it stays near that: about
// as good as best fit, at least, which has no plan.
func TestPlansServeTheNextRun(t *testing.T) {
	t.Parallel()
	const seeds = 3
	for _, name := range tensors() {
		ops := load(t, name)
		line := planned(t, ops)
		for share, most := range map[float64]float64{0: 1.05, 0.01: 1.10, 0.05: 1.10} {
			var sum, misses, worst float64
			var calls int64
			seeds := seeds
			if share == 0 {
				seeds = 1
			}
			for seed := range uint64(seeds) {
				tr := played(t, noisy(rand.New(rand.NewPCG(seed, 7)), lives(ops), share))
				r := replay(t, tr, line)
				sum += r.FootprintRatio / float64(seeds)
				calls = r.UpstreamAllocs
				misses += r.MissRatio / float64(seeds)
				worst = max(worst, r.FootprintRatio/replay(t, tr, without).FootprintRatio)
			}
			if sum > most || misses > 0.005 || worst > 1.03 || share == 0 && calls > 1 {
				t.Errorf("%s, %v changed: %.3f, misses %.4f, %.3f of best fit at most", name, share, sum, misses, worst)
			}
			t.Logf("%s, %v changed: %.3f, misses %.4f, %.3f of best fit at most", name, share, sum, misses, worst)
		}
	}
}

// A plan file that was damaged is refused, a thousand times: it cannot make a pool worse.
func TestDamagedPlansAreRefused(t *testing.T) {
	p, err := Make(traceOf(t, random(rand.New(rand.NewPCG(9, 1)), 500)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plan", "plan.gz"} {
		file := filepath.Join(t.TempDir(), name)
		if err := p.Save(file); err != nil {
			t.Fatal(err)
		}
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(500) {
			bad := damaged(rand.New(rand.NewPCG(seed, 13)), good)
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			pool, err := slab.OpenConfig(slab.Config{Device: "virtual", Strategy: "plan", Plan: file})
			var e *slab.FileError
			if !errors.As(err, &e) {
				t.Fatalf("%s, seed %d: opened with %v, %+v", name, seed, err, pool.Stats())
			}
		}
	}
}

// damaged returns text with bytes changed, cut off, cut out, or moved.
func damaged(r *rand.Rand, text []byte) []byte {
	bad := bytes.Clone(text)
	from, to := 10+r.IntN(len(bad)-30), 10+r.IntN(len(bad)-30) // in gzip the header has no checksum
	switch from, to := min(from, to), max(from, to)+1; r.IntN(4) {
	case 0:
		bad[from] ^= byte(1 + r.IntN(255))
	case 1:
		bad = bad[:from]
	case 2:
		bad = slices.Delete(bad, from, to)
	case 3:
		bad = slices.Insert(bad, from, text[from:to]...)
	}
	return bad
}

func load(t testing.TB, name string) (ops []trace.Op) {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedtest.Dir(t), "traces", name+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for op, err := range trace.NewReader(f, name).All() {
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	return ops
}
