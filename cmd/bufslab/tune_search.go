package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// A choice is an option of a line.
type choice struct{ key, value string }

// A coordinate is an option with the values that are tried; "" is its default.
type coordinate struct {
	key    string
	values []string
}

// coordinates are searched in this order, twice: each is tried with what was best of the
// others so far. A menu of all combinations would take ten times as many replays for a
// hundredth less memory.
var coordinates = []coordinate{
	{"cache_bytes", []string{"", "0", "64KiB", "1MiB"}},
	{"strategy", []string{"slab", "bestfit", "sizeclass", "exact", "bitlog"}},
	{"miss_target", []string{"", "0.3%", "2%", "5%", "15%"}},
	{"steps", []string{"", "2", "16"}},
	{"bits", []string{"", "2", "6"}},
}

const (
	rounds = 2
	// worthwhile is the share that an option has to save to get into a line.
	worthwhile = 0.002
)

// A search looks for the line that costs least.
type search struct {
	base  string // options of every line, "" if there are none
	peaks bool   // a reserve is worth trying
	until time.Time
	score func(line string, c slab.Config) (score, error)

	tried []score // in the order in which they were tried
	late  bool    // it stopped as it was past until
}

// run searches, and returns the scores of the defaults and of what costs least.
func (s *search) run() (defaults, best score, err error) {
	if defaults, err = s.try(nil); err != nil {
		return defaults, best, err
	}
	var at []choice
	best = defaults
	for range rounds {
		before := best.Config
		along := slices.Clone(coordinates)
		if s.peaks {
			along = append(along, reserves(best))
		}
		for _, c := range along {
			if at, best, err = s.along(c, at, best); err != nil || s.late {
				return defaults, best, err
			}
		}
		if best.Config == before {
			break
		}
	}
	return defaults, best, nil
}

// along tries the values of a coordinate, and returns what is best now.
func (s *search) along(c coordinate, at []choice, best score) ([]choice, score, error) {
	from := at
	for _, v := range c.values {
		if s.late = !s.until.IsZero() && time.Now().After(s.until); s.late {
			break
		}
		next := set(from, c.key, v)
		got, err := s.try(next)
		if errors.Is(err, device.ErrOutOfMemory) {
			continue // others may fit
		}
		if err != nil {
			return at, best, err
		}
		if got.better(best) && (got.Within != best.Within || got.Cost < best.Cost*(1-worthwhile)) {
			at, best = next, got
		}
	}
	return at, best, nil
}

// try scores a line, once.
func (s *search) try(at []choice) (score, error) {
	line, c, err := lineOf(s.base, at)
	if err != nil {
		return score{}, err
	}
	for _, t := range s.tried {
		if t.Config == line {
			return t, nil
		}
	}
	got, err := s.score(line, c)
	if err == nil {
		s.tried = append(s.tried, got)
	}
	return got, err
}

// set returns the choices with one of them changed.
func set(from []choice, key, value string) (to []choice) {
	to = slices.DeleteFunc(slices.Clone(from), func(c choice) bool { return c.key == key })
	if value != "" {
		to = append(to, choice{key, value})
	}
	return to
}

// lineOf returns the base with the choices, but for those that the strategy cannot use.
func lineOf(base string, at []choice) (line string, c slab.Config, err error) {
	line = base
	if c, err = configOf(line); err != nil {
		return line, c, err
	}
	sorted := slices.Clone(at)
	if len(at) > 0 && c.Strategy == "" && !slices.ContainsFunc(at, func(o choice) bool { return o.key == "strategy" }) {
		sorted = append(sorted, choice{"strategy", usual(c.Device)}) // for options that only it can use, on any device
	}
	slices.SortFunc(sorted, func(a, b choice) int { // whatever the order in which they were chosen
		if a.key == "strategy" || b.key == "strategy" {
			return boolToInt(b.key == "strategy") - boolToInt(a.key == "strategy")
		}
		return strings.Compare(a.key, b.key)
	})
	for _, o := range sorted {
		with := strings.TrimPrefix(line+","+o.key+"="+o.value, ",")
		if d, err := configOf(with); err == nil {
			line, c = with, d
		}
	}
	return line, c, nil
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// front returns those of the tried lines within the budget that no other one beats in
// both memory and time, the smallest first.
func (s *search) front() (front []score) {
	for _, a := range s.tried {
		beaten := slices.ContainsFunc(s.tried, func(b score) bool {
			return b.Within && b.memory() <= a.memory() && b.PairNS <= a.PairNS &&
				(b.memory() < a.memory() || b.PairNS < a.PairNS)
		})
		if a.Within && !beaten && !slices.ContainsFunc(front,
			func(b score) bool { return b.memory() == a.memory() && b.PairNS == a.PairNS }) {
			front = append(front, a)
		}
	}
	slices.SortFunc(front, func(a, b score) int {
		if a.memory() < b.memory() {
			return -1
		}
		return 1
	})
	return front
}

// reserves are what may be taken up front: a little more than the program has live at a
// time, or all that the best line so far has managed.
func reserves(best score) coordinate {
	return coordinate{"reserve", []string{"", roundUp(best.peakLive + best.peakLive/100), roundUp(best.managed)}}
}

// roundUp writes a size in the largest unit that makes it less than a thousandth longer.
func roundUp(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= 1000*unit.bytes {
			return fmt.Sprintf("%d%s", (n+unit.bytes-1)/unit.bytes, unit.name)
		}
	}
	return fmt.Sprint(n)
}
