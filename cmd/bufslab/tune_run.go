package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// A tuner runs the replays of tune.
type tuner struct {
	tuneOptions
	seen, unseen []*trace.Trace // the halves
	crowds       []crowd        // of each trace
	threads      []int
	bar          progress
	stderr       io.Writer
	done         int64 // events
	replays      int
}

// expected is how many lines a search tries, about, and judges afterwards: for the bar.
const expected = 20

func newTuner(o tuneOptions, traces []*trace.Trace, stderr io.Writer) *tuner {
	t := &tuner{tuneOptions: o, stderr: stderr}
	events := 0
	for _, whole := range traces {
		first, second := whole.Halves()
		t.seen, t.unseen = append(t.seen, first), append(t.unseen, second)
		t.crowds = append(t.crowds, crowdOf(whole))
		t.threads = append(t.threads, whole.Threads())
		events += first.Events()
	}
	t.bar = newProgress(int64(events)*expected, "tuning", stderr)
	return t
}

// declines reports whether the last quarter of the events has no peak near the highest.
// What a program needed once, when it began, is no measure for what it will need.
func declines(t *trace.Trace) bool {
	last, n := int64(0), 0
	for _, live := range liveBytes(t) {
		if n++; n > t.Events()*3/4 {
			last = max(last, live)
		}
	}
	return float64(last) < agrees*float64(t.PeakLiveBytes)
}

// liveBytes ranges over the events of a trace, with what is live after each.
func liveBytes(t *trace.Trace) iter.Seq2[trace.Op, int64] {
	return func(yield func(trace.Op, int64) bool) {
		live, sizes := int64(0), map[uint64]int{}
		for op := range t.Ops() {
			switch op.Kind {
			case trace.Alloc:
				live += int64(op.Size)
				sizes[op.ID] = op.Size
			case trace.Grow:
				live += int64(op.Size - sizes[op.ID])
				sizes[op.ID] = op.Size
			case trace.Free:
				live -= int64(op.Size)
			}
			if !yield(op, live) {
				return
			}
		}
	}
}

// A finding is what tune has found: the defaults and the chosen line, with the front, on
// the half that the search saw and on the other.
type finding struct {
	defaults, chosen score
	front            []score
	unseen           map[string]score // by line
	tried            []score
	replays          int
	took             time.Duration
	late             bool
}

func (t *tuner) run() (*finding, error) {
	begin := time.Now()
	s := search{base: t.base, peaks: t.peaksAgree(), score: func(line string, c slab.Config) (score, error) {
		return t.judge(line, c, t.seen)
	}}
	if t.limit > 0 {
		s.until = begin.Add(t.limit)
	}
	defaults, best, err := s.run()
	if err != nil {
		return nil, err
	}
	best = choose(defaults, best)
	f := &finding{defaults: defaults, front: s.front(), unseen: map[string]score{}, tried: s.tried, late: s.late}
	if err := t.lookAtUnseen(f, append([]score{defaults, best}, f.front...)); err != nil {
		return nil, err
	}
	if err := t.confirm(f, best); err != nil {
		return nil, err
	}
	t.bar.clear()
	f.replays, f.took = t.replays, time.Since(begin)
	return f, nil
}

// lookAtUnseen judges lines on the half that the search did not see. Those for which there is no room drop out of
// the front.
func (t *tuner) lookAtUnseen(f *finding, lines []score) error {
	for _, line := range lines {
		if _, is := f.unseen[line.Config]; is {
			continue
		}
		c, err := configOf(line.Config)
		if err != nil {
			return err
		}
		got, err := t.judge(line.Config, c, t.unseen)
		switch {
		case err == nil:
			f.unseen[line.Config] = got
		case line.Config != f.defaults.Config && errors.Is(err, device.ErrOutOfMemory):
			f.front = slices.DeleteFunc(f.front, func(s score) bool { return s.Config == line.Config })
		default:
			return err
		}
	}
	return nil
}

// tries is how many lines are looked at on the half that the search did not see.
const tries = 8

// confirm chooses of best, and of what comes next to it, the line that costs least on both halves, if it gains on
// the half that the search did not see, too; else the defaults.
func (t *tuner) confirm(f *finding, best score) error {
	next := slices.SortedStableFunc(slices.Values(f.tried), func(a, b score) int {
		return boolToInt(b.better(a)) - boolToInt(a.better(b))
	})
	f.chosen = f.defaults
	least := math.Inf(1)
	next = slices.CompactFunc(slices.Insert(next, 0, best), func(a, b score) bool {
		return a.Cost == b.Cost && a.MissRatio == b.MissRatio
	})
	for _, line := range next[:min(tries, len(next))] {
		if choose(f.defaults, line) != line {
			continue
		}
		if err := t.lookAtUnseen(f, []score{line}); err != nil {
			return err
		}
		got, fits := f.unseen[line.Config]
		if cost := line.Cost * got.Cost; fits && cost < least*(1-worthwhile) &&
			got.holds(f.unseen[f.defaults.Config], line.memory() <= f.defaults.memory()) {
			f.chosen, least = line, cost
		}
	}
	return nil
}

// peaksAgree reports whether a reserve is worth trying: whether the highest peak of each trace is one that comes again,
// at the end of the first half and in the second.
func (t *tuner) peaksAgree() bool {
	for i, seen := range t.seen {
		a, b := float64(seen.PeakLiveBytes), float64(t.unseen[i].PeakLiveBytes)
		if declines(seen) || min(a, b) < agrees*max(a, b) {
			return false
		}
	}
	return true
}

// agrees is the part of a peak that another one has at least to be one like it.
const agrees = 0.95

func choose(defaults, best score) score {
	if !best.better(defaults) || best.Within == defaults.Within && best.Cost > defaults.Cost*(1-enough) {
		return defaults
	}
	return best
}

// judge replays halves of the traces on a line.
func (t *tuner) judge(line string, c slab.Config, halves []*trace.Trace) (score, error) {
	t.bar.describe("tuning: " + line)
	var results []trace.Result
	var books []int64
	for i, half := range halves {
		r, err := t.replay(half, c, cmp.Or(t.processors, t.threads[i]))
		if err != nil {
			return score{}, fmt.Errorf("%s with %q: %w", half.Name, line, err)
		}
		results, books = append(results, r), append(books, t.crowds[i].books(c))
	}
	return t.mean(line, results, books), nil
}

func (t *tuner) replay(half *trace.Trace, c slab.Config, processors int) (trace.Result, error) {
	return onPool(c, func(p *slab.Pool) (trace.Result, error) {
		t.replays++
		defer func() { t.done += int64(half.Events()) }()
		return trace.Replayer{Processors: min(processors, mostProcessors),
			Progress: func(events int) { t.bar.set(t.done + int64(events)) }}.Run(half, p)
	})
}
