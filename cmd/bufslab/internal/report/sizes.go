package report

import (
	"html/template"
	"math/bits"

	"github.com/go-analyze/charts"
)

// A Size counts the allocations of at most Max bytes, a power of two, and more than half that.
type Size struct {
	Max           int64
	Allocs, Bytes int64
}

// Sizes counts allocations by power of two.
type Sizes struct{ counts [64]Size }

// Add counts an allocation.
func (s *Sizes) Add(size int) {
	c := &s.counts[bits.Len64(uint64(max(size, 1)-1))]
	c.Allocs++
	c.Bytes += int64(size)
}

// fewest is how many bars a histogram has at least: alone one would be as wide as the page.
const fewest = 6

// List returns the counts from the smallest to the largest size that there is, and some
// beside it where that is few.
func (s *Sizes) List() []Size {
	first, last := len(s.counts), 0
	for i, c := range s.counts {
		if c.Allocs > 0 {
			first, last = min(first, i), max(last, i)
		}
	}
	if first > last {
		return nil
	}
	for last-first < fewest-1 {
		last, first = min(last+1, len(s.counts)-1), max(first-1, 0)
	}
	for i := range s.counts {
		s.counts[i].Max = 1 << min(i, 62)
	}
	return s.counts[first : last+1]
}

// Histogram draws the share of each size in the allocations and in the bytes.
func (t *Trace) Histogram() (template.HTML, error) {
	var allocs, bytes int64
	for _, s := range t.Sizes {
		allocs, bytes = allocs+s.Allocs, bytes+s.Bytes
	}
	values, most := [2][]float64{}, 0.0
	for _, s := range t.Sizes {
		a, b := share(s.Allocs, allocs), share(s.Bytes, bytes)
		values[0], values[1] = append(values[0], a), append(values[1], b)
		most = max(most, a, b)
	}
	up := shareAxis(most)
	return drawn(whole, "sizes of allocations", func(p *charts.Painter, f format) error {
		least := up.max * leastBar / float64(f.height)
		return p.BarChart(charts.BarChartOption{Theme: theme(seriesColor(0), seriesColor(1)), Padding: padding, Legend: hidden,
			SeriesList:   charts.BarSeriesList{{Values: bars(values[0], least)}, {Values: bars(values[1], least)}},
			CategoryAxis: charts.CategoryAxisOption{Labels: t.sizeLabels(f.width / 60), LabelFontStyle: font, LabelCount: len(t.Sizes)},
			ValueAxis:    up.vertical()})
	})
}

// leastBar is how many parts of a chart's height a bar has that one can see. The library draws a
// bar of no whole pixel below the axis, and of one not at all.
const leastBar = 3.0

// bars returns shares as they are drawn: none is no bar, and the smallest can be seen.
func bars(shares []float64, least float64) []float64 {
	list := make([]float64, len(shares))
	for i, share := range shares {
		if list[i] = max(share, least); share == 0 {
			list[i] = charts.GetNullValue()
		}
	}
	return list
}

// sizeLabels names at most some of the sizes, at equal distances. The library moves the last
// one into that before, so it has no name.
func (t *Trace) sizeLabels(most int) []string {
	labels := make([]string, len(t.Sizes))
	for i := 0; i < len(labels)-1; i += (len(labels) + most - 1) / most {
		unit, name := byteUnit(t.Sizes[i].Max)
		labels[i] = inUnit(float64(t.Sizes[i].Max), unit, name)
	}
	return labels
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
