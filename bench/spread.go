package main

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
)

// A spread is the median of some figures, and the quartiles that say what it is worth.
type spread struct{ low, median, high float64 }

func spreadOf(v []float64) spread {
	v = slices.Sorted(slices.Values(v))
	return spread{quantile(v, 0.25), quantile(v, 0.5), quantile(v, 0.75)}
}

// quantile interpolates between the two figures of the sorted v that are nearest to q.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// ratios divides figures of the same rounds.
func ratios(v, by []float64) []float64 {
	r := make([]float64, len(v))
	for i := range v {
		r[i] = v[i] / by[i]
	}
	return r
}

// ratio prints a spread of ratios.
func (s spread) ratio() string {
	return fmt.Sprintf("%.2f (%.2f..%.2f)", s.median, s.low, s.high)
}

// time prints a spread of nanoseconds.
func (s spread) time() string {
	return fmt.Sprintf("%s (%s..%s)", nanoseconds(s.median), nanoseconds(s.low), nanoseconds(s.high))
}

func nanoseconds(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return humanize.Comma(int64(v + 0.5))
}
