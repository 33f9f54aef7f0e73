package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/bufslab/bufslab/trace"
)

// planTime is what a plan may take, unless told otherwise.
const planTime = 5 * time.Second

// tryPlan makes a plan of the half that the search saw, if one pays: if a plan of the first
// half of that costs less on the second, where it was not made, than the best line there. It
// returns the score of the plan's line then, else best.
func (t *tuner) tryPlan(best score) (score, error) {
	if t.plan == "" {
		return best, nil
	}
	made, other := t.seen[0].Halves()
	dir, err := os.MkdirTemp("", "bufslab") // FILE may have a plan from before, which stays if none pays
	if err != nil {
		return best, err
	}
	defer os.RemoveAll(dir)
	trial := filepath.Join(dir, filepath.Base(t.plan))
	line, c, err := lineOf(t.base, []choice{{"strategy", "plan,plan=" + trial}})
	if err == nil {
		err = t.savePlan(made, trial)
	}
	if err != nil {
		return best, err
	}
	usual, err := configOf(best.Config)
	if err != nil {
		return best, err
	}
	planned, err := t.judge(line, c, []*trace.Trace{other})
	if err != nil {
		return best, err
	}
	without, err := t.judge(best.Config, usual, []*trace.Trace{other})
	if err != nil || choose(without, planned) != planned {
		return best, err
	}
	if err := t.savePlan(t.seen[0], t.plan); err != nil {
		return best, err
	}
	if line, c, err = lineOf(t.base, []choice{{"strategy", "plan,plan=" + t.plan}}); err != nil {
		return best, err
	}
	return t.judge(line, c, t.seen)
}

// savePlan plans for a trace, and writes the plan to a file.
func (t *tuner) savePlan(of *trace.Trace, to string) error {
	t.bar.clear()
	p, err := planOf(of, 64, t.planTime, t.stderr)
	if err != nil {
		return badInput{err}
	}
	return p.Save(to)
}
