package report

import (
	"cmp"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-analyze/charts"
)

// ParetoCalls draws footprint against calls upstream, on a scale of logarithms.
func (t *Trace) ParetoCalls() (template.HTML, error) {
	least, most := t.Runs[0].Upstream, int64(0)
	for _, r := range t.Runs {
		least, most = min(least, r.Upstream), max(most, r.Upstream)
	}
	return t.pareto("footprint and calls upstream", decadesAxis(least, most), func(r Run) float64 {
		return math.Log10(float64(max(r.Upstream, 1)))
	})
}

// ParetoTime draws footprint against what a pair takes.
func (t *Trace) ParetoTime() (template.HTML, error) {
	most := 0.0
	for _, r := range t.Runs {
		most = max(most, r.PairNS)
	}
	return t.pareto("footprint and time", pairAxis(most), func(r Run) float64 { return r.PairNS })
}

// A dot is the place of a configuration in a plot, and those that lie on it.
type dot struct {
	column int
	y      float64
	own    int // the configuration whose place and colour it has
	runs   []int
	beaten bool // there is one with both figures smaller, or one smaller and one equal
}

func (t *Trace) pareto(label string, up axis, y func(Run) float64) (template.HTML, error) {
	most := 1.0
	for _, r := range t.Runs {
		most = max(most, r.Footprint)
	}
	return drawn(beside, label, func(p *charts.Painter, f format) error {
		across := ratioAxis(most, f.marks)
		var list charts.ScatterSeriesList
		var colors []charts.Color
		for _, d := range t.dots(f, across, up, y) {
			list, colors = append(list, d.series()), append(colors, seriesColor(d.own))
		}
		return p.ScatterChart(charts.ScatterChartOption{Theme: theme(colors...), Padding: padding, SeriesList: list, Legend: hidden,
			XAxis: across.horizontal(), YAxis: up.vertical()})
	})
}

// dots returns the places of all configurations, from the left to the right. Those that would lie
// on each other, or on the numbers beside, are one.
func (t *Trace) dots(f format, across, up axis, y func(Run) float64) (dots []*dot) {
	for _, i := range t.byFootprint() {
		r := t.Runs[i]
		d := &dot{column: across.at(r.Footprint, columns), y: y(r), own: i, runs: []int{i}}
		for _, other := range t.Runs {
			d.beaten = d.beaten || other.Footprint <= r.Footprint && y(other) <= y(r) && (other.Footprint < r.Footprint || y(other) < y(r))
		}
		near := slices.IndexFunc(dots, func(o *dot) bool {
			right := (d.column - o.column) * f.width / columns
			return right < o.width() && math.Abs(up.share(o.y)-up.share(d.y))*float64(f.height) < 16
		})
		if near < 0 {
			dots = append(dots, d)
			continue
		}
		o := dots[near]
		o.runs = append(o.runs, i)
		slices.Sort(o.runs)
		o.beaten = o.beaten && d.beaten
	}
	return dots
}

func (t *Trace) byFootprint() []int {
	order := make([]int, len(t.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(t.Runs[i].Footprint, t.Runs[j].Footprint) })
	return order
}

// width is that of a dot and its numbers, about.
func (d *dot) width() int { return 22 + 7*len(d.name()) }

// series draws a dot with the numbers of its configurations: full if it is not beaten.
func (d *dot) series() charts.ScatterSeries {
	values := make([][]float64, columns+1)
	for i := range values {
		values[i] = []float64{charts.GetNullValue()}
	}
	values[d.column] = []float64{d.y}
	symbol := charts.Symbol{Shape: charts.SymbolDot, Size: 6}
	if d.beaten {
		symbol.Shape = charts.SymbolCircle
	}
	return charts.ScatterSeries{Values: values, Symbol: symbol, Label: charts.SeriesLabel{
		Show: charts.Ptr(true), FontStyle: font, Distance: 8, ValueFormatter: func(float64) string { return d.name() }}}
}

func (d *dot) name() string {
	var numbers []string
	for _, i := range d.runs {
		numbers = append(numbers, strconv.Itoa(i+1))
	}
	return strings.Join(numbers, ", ")
}
