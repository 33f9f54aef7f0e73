package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/trace"
)

// menu are lines as one would try them by hand, each for each trace.
func menu() (lines []string) {
	for _, strategy := range []string{"slab", "bestfit"} {
		for _, misses := range []string{"0.3%", "1%", "3%"} {
			for _, cache := range []string{"0", "64KiB", "1MiB"} {
				lines = append(lines, fmt.Sprintf("strategy=%s,miss_target=%s,cache_bytes=%s", strategy, misses, cache))
			}
		}
	}
	for _, n := range []string{"2", "4", "16"} {
		lines = append(lines, "strategy=sizeclass,steps="+n, "strategy=sizeclass,cache_bytes=0,steps="+n)
	}
	return append(lines, "strategy=exact", "strategy=bitlog,bits=2", "strategy=bitlog,bits=4", "strategy=bitlog,bits=6")
}

// smaller reports whether a is to be preferred to b: what keeps the budget of misses, then
// what takes less memory.
func smaller(a, b trace.Result) bool {
	switch {
	case withinBudget(a) != withinBudget(b):
		return withinBudget(a)
	case !withinBudget(a):
		return a.MissRatio < b.MissRatio
	}
	return a.FootprintRatio < b.FootprintRatio
}

// gains are those of the lines that tune chose, over some traces: logarithms of footprints,
// added up, and how many of the lines keep the budget.
type gains struct {
	defaults, menu, chosen, either float64
	kept, menuKept, traces         int
}

func (g *gains) add(t *testing.T, rec *trace.Trace, line string) {
	chosen, best := replayLine(t, rec, line), bestOf(t, rec, menu())
	either := best
	if smaller(chosen, best) {
		either = chosen
	}
	g.defaults += math.Log(replayLine(t, rec, "").FootprintRatio)
	g.menu += math.Log(best.FootprintRatio)
	g.chosen += math.Log(chosen.FootprintRatio)
	g.either += math.Log(either.FootprintRatio)
	g.kept += boolToInt(withinBudget(chosen))
	g.menuKept += boolToInt(withinBudget(best))
	g.traces++
}

func bestOf(t *testing.T, rec *trace.Trace, lines []string) trace.Result {
	best := replayLine(t, rec, lines[0])
	for _, line := range lines[1:] {
		if r := replayLine(t, rec, line); smaller(r, best) {
			best = r
		}
	}
	return best
}

func (g *gains) mean(logs float64) float64 { return math.Exp(logs / float64(g.traces)) }

func (g *gains) String() string {
	return fmt.Sprintf("defaults %.3f, best of the menu %.3f, chosen %.3f, best of menu and chosen %.3f; of %d traces %d chosen lines keep 1 %%, %d best ones of the menu",
		g.mean(g.defaults), g.mean(g.menu), g.mean(g.chosen), g.mean(g.either), g.traces, g.kept, g.menuKept)
}

// A line that was chosen on the first half of a trace takes less memory on the second than
// the defaults do, and little more than the best of the menu, which is chosen there, with as
// few misses.
func TestWhatTuneGains(t *testing.T) {
	if os.Getenv("BUFSLAB_STRESS") == "" || raceEnabled || invariants.Enabled {
		t.Skip("it replays each recording some 120 times; set BUFSLAB_STRESS, without -race and -tags invariants")
	}
	var whole, unseen gains
	replays := 0
	for _, rec := range recordings(t, filepath.Join(check.SharedDir(t), "traces")) {
		tuner := newTuner(tuneOptions{objective: objective{misses: missBudget, ns: 50}}, []*trace.Trace{rec}, io.Discard)
		found, err := tuner.run()
		if err != nil {
			t.Fatal(err)
		}
		replays += found.replays
		whole.add(t, rec, found.chosen.Config)
		unseen.add(t, tuner.unseen[0], found.chosen.Config)
	}
	t.Logf("whole traces: %v", &whole)
	t.Logf("second halves: %v", &unseen)
	t.Logf("%d lines in the menu, %.1f replays of a trace to choose", len(menu()), float64(replays)/float64(whole.traces))
	if whole.chosen >= whole.defaults || unseen.chosen >= unseen.defaults {
		t.Error("the chosen lines take no less memory than the defaults")
	}
	if unseen.mean(unseen.chosen) > 1.05*unseen.mean(unseen.menu) {
		t.Error("the chosen lines take a twentieth more memory than the best of the menu")
	}
	if unseen.kept < unseen.menuKept {
		t.Error("the chosen lines keep the budget of misses less often than the best of the menu")
	}
}
