package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// missBudget is the share of allocations that may reach the device.
const missBudget = 0.01

// A candidate is a line and what it took on the traces so far.
type candidate struct {
	line   string
	logs   float64 // of footprints, added up
	traces int
	misses float64 // the largest share
}

// advice says in a sentence which of several lines takes the least memory within the
// budget of misses, or "" if there is nothing to choose.
func advice(rows []row) string {
	lines := candidates(rows)
	if len(lines) < 2 {
		return ""
	}
	most := slices.MaxFunc(lines, func(a, b *candidate) int { return cmp.Compare(a.traces, b.traces) }).traces
	lines = slices.DeleteFunc(lines, func(c *candidate) bool { return c.traces < most }) // it failed on some
	best := smallest(lines)
	if best == nil {
		return "No line kept to 1 % of misses" + on(most) + "."
	}
	return fmt.Sprintf(`Use %s: the smallest footprint of these lines with at most 1 %% misses, %.3f%s.
It was chosen by memory alone. For a recording of your own program use bufslab tune.`,
		strings.TrimPrefix(best.line, "device=virtual,"), best.footprint(), on(best.traces))
}

// candidates adds up the rows of each line, in the order of the lines.
func candidates(rows []row) (lines []*candidate) {
	at := map[string]*candidate{}
	for _, r := range distinct(rows) {
		c := at[r.Config]
		if c == nil {
			c = &candidate{line: r.Config}
			at[r.Config], lines = c, append(lines, c)
		}
		c.logs += math.Log(max(r.FootprintRatio, 1)) // 0 of a trace without bytes
		c.traces++
		c.misses = max(c.misses, r.MissRatio)
	}
	return lines
}

// distinct returns the rows, of a line that was given twice only the first on each trace.
func distinct(rows []row) []row {
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		of := [2]string{r.Trace, r.Config}
		again := seen[of]
		seen[of] = true
		return again
	})
}

// smallest returns the candidate with the smallest footprint within the budget, or nil.
func smallest(lines []*candidate) (best *candidate) {
	for _, c := range lines {
		if c.misses <= missBudget && (best == nil || c.footprint() < best.footprint()) {
			best = c
		}
	}
	return best
}

// footprint is the geometric mean over the traces.
func (c *candidate) footprint() float64 { return math.Exp(c.logs / float64(c.traces)) }

func on(traces int) string {
	if traces == 1 {
		return ""
	}
	return fmt.Sprintf(" on %d traces", traces)
}
