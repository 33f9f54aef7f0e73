package planner

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/internal/learned"
	"github.com/bufslab/bufslab/trace"
)

// A change makes a plan one that can be read, but does not fit the program.
type change func(r *rand.Rand, p []learned.Hint) []learned.Hint

// changes are all that we know.
var changes = map[string]change{
	"sizes scaled": func(r *rand.Rand, p []learned.Hint) []learned.Hint {
		by := []float64{0.5, 0.9, 0.99, 1.01, 1.1, 2}[r.IntN(6)]
		return each(p, func(h *learned.Hint) { h.Size = max(1, int(float64(h.Size)*by)) })
	},
	"sizes swapped": some(func(r *rand.Rand, p []learned.Hint, i int) {
		j := r.IntN(len(p))
		p[i].Size, p[j].Size = p[j].Size, p[i].Size
	}),
	"shuffled": some(func(r *rand.Rand, p []learned.Hint, i int) {
		j := r.IntN(len(p))
		p[i], p[j] = p[j], p[i]
	}),
	"dropped": func(r *rand.Rand, p []learned.Hint) []learned.Hint {
		share := r.Float64()
		return slices.DeleteFunc(p, func(learned.Hint) bool { return r.Float64() < share })
	},
	"doubled": func(r *rand.Rand, p []learned.Hint) (q []learned.Hint) {
		share := r.Float64()
		for _, h := range p {
			if q = append(q, h); r.Float64() < share {
				q = append(q, h)
			}
		}
		return q
	},
	"cut":   func(r *rand.Rand, p []learned.Hint) []learned.Hint { return p[:r.IntN(len(p))] },
	"begun": func(r *rand.Rand, p []learned.Hint) []learned.Hint { return p[r.IntN(len(p)):] },
	"moved up": func(r *rand.Rand, p []learned.Hint) []learned.Hint {
		by := r.IntN(height(p))
		return each(p, func(h *learned.Hint) { h.Off = aligned(h.Off + by) })
	},
	"moved a little": some(func(r *rand.Rand, p []learned.Hint, i int) {
		p[i].Off = max(0, aligned(p[i].Off+r.IntN(2*p[i].Size+1)-p[i].Size))
	}),
	"moved anywhere": some(func(r *rand.Rand, p []learned.Hint, i int) { p[i].Off = aligned(r.IntN(height(p))) }),
	"stretched": func(r *rand.Rand, p []learned.Hint) []learned.Hint {
		by := 0.5 + 2*r.Float64()
		return each(p, func(h *learned.Hint) { h.Off = aligned(int(float64(h.Off) * by)) })
	},
	"upside down": func(_ *rand.Rand, p []learned.Hint) []learned.Hint {
		top := height(p)
		return each(p, func(h *learned.Hint) { h.Off = aligned(top - h.Off - h.Size) })
	},
	"too high": func(r *rand.Rand, p []learned.Hint) []learned.Hint {
		return append(p, learned.Hint{Size: 4096, Off: aligned(height(p) + r.IntN(2*height(p)))})
	},
}

func each(p []learned.Hint, change func(h *learned.Hint)) []learned.Hint {
	for i := range p {
		change(&p[i])
	}
	return p
}

// some changes a share of the hints.
func some(change func(r *rand.Rand, p []learned.Hint, i int)) change {
	return func(r *rand.Rand, p []learned.Hint) []learned.Hint {
		share := shareOf(r)
		for i := range p {
			if r.Float64() < share {
				change(r, p, i)
			}
		}
		return p
	}
}

func shareOf(r *rand.Rand) float64 { return []float64{0.01, 0.05, 0.2, 0.5, 1}[r.IntN(5)] }

func height(p []learned.Hint) int { return int(learned.Plan{p}.Bytes()) }

func aligned(off int) int { return off &^ 15 }

// A program is a trace, its plan, and what it needs without one.
type program struct {
	ops     []trace.Op
	trace   *trace.Trace
	plan    []learned.Hint
	without int64
}

func programOf(t *testing.T, name string) (p program) {
	t.Helper()
	p.ops = load(t, name)
	p.trace = traceOf(t, p.ops)
	p.without = replay(t, p.trace, without).PeakManagedBytes
	made, err := Make(p.trace, Options{Ceiling: p.without})
	if err != nil {
		t.Fatal(err)
	}
	p.plan = made.file[0]
	return p
}

// with returns what the program needs with a plan, by what it needs without one.
func (p *program) with(t *testing.T, file string, plan []learned.Hint) float64 {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := learned.WritePlan(f, learned.Plan{plan}); err != nil {
		t.Fatal(err)
	}
	r := replay(t, p.trace, "device=virtual,strategy=plan,plan="+file)
	return float64(r.PeakManagedBytes) / float64(p.without)
}

// A count says how often plans cost more than a fiftieth, and the worst.
type count struct {
	plans, bad int
	worst      float64
}

func (c *count) add(ratio float64) {
	c.plans++
	if c.worst = max(c.worst, ratio); ratio > 1.02 {
		c.bad++
	}
}

var tensorPrograms struct {
	once sync.Once
	list []program
}

// programs returns those of tensors, which are planned once.
func programs(t *testing.T) []program {
	p := &tensorPrograms
	p.once.Do(func() {
		for _, name := range tensors() {
			p.list = append(p.list, programOf(t, name))
		}
	})
	if len(p.list) == 0 {
		t.SkipNow() // as the test did that came first
	}
	return p.list
}

// plansTried is few, or many where BUFSLAB_STRESS is set.
func plansTried(few, many int) int {
	if os.Getenv("BUFSLAB_STRESS") != "" {
		return many
	}
	return few
}

// A plan whose numbers were changed costs nothing, as good as always: at most one of a hundred
// costs more than a fiftieth.
func TestWrongPlansCostNothing(t *testing.T) {
	t.Parallel()
	all := programs(t)
	kinds := make([]string, 0, len(changes))
	for kind := range changes {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	file := filepath.Join(t.TempDir(), "plan")
	var sum count
	each := map[string]*count{}
	for seed := range plansTried(100, 1000) {
		r := rand.New(rand.NewPCG(uint64(seed), 21))
		p, kind := all[seed%len(all)], "of another program"
		plan := all[(seed+1+r.IntN(len(all)-1))%len(all)].plan
		if i := r.IntN(len(kinds) + 1); i < len(kinds) {
			kind = kinds[i]
			plan = changes[kind](r, slices.Clone(p.plan))
		}
		if each[kind] == nil {
			each[kind] = &count{}
		}
		ratio := p.with(t, file, plan)
		sum.add(ratio)
		each[kind].add(ratio)
	}
	if sum.bad > sum.plans/100+1 || sum.worst > 1.3 {
		t.Errorf("%+v", sum)
	}
	for kind, c := range each {
		t.Logf("%s: %d of %d cost more, %.3f at most", kind, c.bad, c.plans, c.worst)
	}
	t.Logf("%+v", sum)
}

// A program of which up to a twentieth was changed needs no more with its old plan than without
// one. One that is another program, but begins the same, may: the memory for the plan is taken
// by then.
func TestPlansOfChangedPrograms(t *testing.T) {
	if invariants.Enabled {
		t.Skip("its share is of all traces, and heaps that check themselves take minutes for the long ones")
	}
	t.Parallel()
	all := programs(t)
	file := filepath.Join(t.TempDir(), "plan")
	for _, c := range []struct {
		share, most float64
		plans       int
	}{{0.01, 0.02, plansTried(12, 200)}, {0.05, 0.02, plansTried(12, 200)}, {0.2, 0.25, plansTried(0, 200)}, {0.5, 0.5, plansTried(0, 200)}, {1, 0.5, plansTried(0, 200)}} {
		var sum count
		for seed := range c.plans {
			p := all[seed%len(all)]
			p.trace = played(t, noisy(rand.New(rand.NewPCG(uint64(seed), 22)), lives(p.ops), c.share))
			p.without = replay(t, p.trace, without).PeakManagedBytes
			sum.add(p.with(t, file, p.plan))
		}
		if float64(sum.bad) > c.most*float64(sum.plans) {
			t.Errorf("%v changed: %+v", c.share, sum)
		}
		t.Logf("%v changed: %+v", c.share, sum)
	}
}
