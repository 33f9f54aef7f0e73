// Package report has what the commands of bench share: figures with their quartiles, and
// tables of them in the pages of this repository.
package report

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
)

// A Spread is the median of some figures, and the quartiles that say what it is worth.
type Spread struct{ Low, Median, High float64 }

// SpreadOf returns that of v, which has a figure at least.
func SpreadOf(v []float64) Spread {
	v = slices.Sorted(slices.Values(v))
	return Spread{quantile(v, 0.25), quantile(v, 0.5), quantile(v, 0.75)}
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

// Ratios divides figures of the same rounds.
func Ratios(v, by []float64) []float64 {
	r := make([]float64, len(v))
	for i := range v {
		r[i] = v[i] / by[i]
	}
	return r
}

// Ratio prints a spread of ratios.
func (s Spread) Ratio() string {
	return fmt.Sprintf("%.2f (%.2f..%.2f)", s.Median, s.Low, s.High)
}

// Figures prints a spread of nanoseconds, or of other figures that are rarely below one.
func (s Spread) Figures() string {
	return fmt.Sprintf("%s (%s..%s)", Figure(s.Median), Figure(s.Low), Figure(s.High))
}

// Figure prints v with three digits at least, as far as tenths go.
func Figure(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return humanize.Comma(int64(v + 0.5))
}
