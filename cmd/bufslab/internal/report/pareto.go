package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bufslab/bufslab/internal/chart"
)

// ParetoCalls draws footprint against calls upstream, on a scale of logarithms.
func (t *Trace) ParetoCalls() []*drawing {
	least, most := t.Runs[0].Upstream, int64(0)
	for _, r := range t.Runs {
		least, most = min(least, r.Upstream), max(most, r.Upstream)
	}
	return t.pareto("footprint and calls upstream", decadesAxis(least, most), func(r Run) float64 {
		return math.Log10(float64(max(r.Upstream, 1)))
	})
}

// ParetoTime draws footprint against what a pair takes.
func (t *Trace) ParetoTime() []*drawing {
	most := 0.0
	for _, r := range t.Runs {
		most = max(most, r.PairNS)
	}
	return t.pareto("footprint and time", pairAxis(most), func(r Run) float64 { return r.PairNS })
}

// A dot is the place of a configuration in a plot, and those that lie on it.
type dot struct {
	x, y   float64 // in the image
	own    int     // the configuration whose place and colour it has
	runs   []int
	beaten bool // there is one with both figures smaller, or one smaller and one equal
}

func (t *Trace) pareto(label string, up axis, y func(Run) float64) (all []*drawing) {
	most := 1.0
	for _, r := range t.Runs {
		most = max(most, r.Footprint)
	}
	for _, f := range beside {
		across := ratioAxis(most, f.marks)
		drawn := newDrawing(f, label, up, 2*margin) // for a number beside the last dot
		drawn.across(across)
		for _, d := range t.dots(drawn.frame, across, up, y) {
			drawn.dot(d)
		}
		all = append(all, drawn)
	}
	return all
}

// dots returns the places of all configurations, from the left to the right. Those that would lie
// on each other, or on the numbers beside, are one.
func (t *Trace) dots(f chart.Frame, across, up axis, y func(Run) float64) (dots []*dot) {
	for _, i := range t.byFootprint() {
		r := t.Runs[i]
		d := &dot{own: i, runs: []int{i}}
		d.x, d.y = f.At(chart.Point{X: across.share(r.Footprint), Y: up.share(y(r))})
		for _, other := range t.Runs {
			d.beaten = d.beaten || other.Footprint <= r.Footprint && y(other) <= y(r) &&
				(other.Footprint < r.Footprint || y(other) < y(r))
		}
		near := slices.IndexFunc(dots, func(o *dot) bool {
			return d.x-o.x < o.width() && math.Abs(o.y-d.y) < 16
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
func (d *dot) width() float64 { return 22 + letter*float64(len(d.name())) }

// dot draws a dot with the numbers of its configurations: full if it is not beaten.
func (d *drawing) dot(of *dot) {
	style := "fill:%[1]s;stroke:%[1]s"
	if of.beaten {
		style = "fill:none;stroke:%s"
	}
	const r = 6
	circle := fmt.Sprintf("M%.1f %.1fa%d %[3]d 0 1 0 %d 0a%[3]d %[3]d 0 1 0 -%[4]d 0z", of.x-r, of.y, r, 2*r)
	d.draw(style, series(of.own), circle)
	d.write(of.x+margin, of.y, "start", of.name())
}

func (d *dot) name() string {
	var numbers []string
	for _, i := range d.runs {
		numbers = append(numbers, strconv.Itoa(i+1))
	}
	return strings.Join(numbers, ", ")
}
