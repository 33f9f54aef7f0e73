package report

import (
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// An axis has marks at equal distances from min to max.
type axis struct {
	min, max float64
	steps    int
	label    func(float64) string
}

// round are the distances of marks, times a power of ten, that read well.
var round = []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10}

// newAxis returns an axis from min to max or little more, in units of unit, with at most some
// marks.
func newAxis(min, max, unit float64, most int, label func(float64) string) axis {
	best := axis{min: min, max: math.Inf(1), label: label}
	span := math.Max((max-min)/unit, 1e-9)
	for steps := (most + 1) / 2; steps <= most; steps++ {
		power := math.Pow(10, math.Floor(math.Log10(span/float64(steps))))
		for _, r := range round {
			if end := min + float64(steps)*r*power*unit; end >= max*(1-1e-12) && end < best.max {
				best.max, best.steps = end, steps
			}
		}
	}
	return best
}

// mark is what the mark i says.
func (a axis) mark(i int) string { return a.label(a.min + (a.max-a.min)*float64(i)/float64(a.steps)) }

// at returns which of n equal parts of the axis v is nearest to.
func (a axis) at(v float64, n int) int { return int(math.Round(a.share(v) * float64(n))) }

// share returns where v stands, from 0 to 1.
func (a axis) share(v float64) float64 { return min(max((v-a.min)/(a.max-a.min), 0), 1) }

func bytesAxis(most int64) axis {
	unit, name := byteUnit(most)
	if unit == 1 {
		most = max(most, 8) // there are no parts of a byte
	}
	return newAxis(0, float64(most), unit, upright, func(v float64) string { return inUnit(v, unit, name) })
}

// byteUnit returns the unit that n bytes read best in.
func byteUnit(n int64) (unit float64, name string) {
	i, names := 0, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for unit = 1; float64(n) >= 1024*unit; unit *= 1024 {
		i++
	}
	return unit, names[i]
}

// upright is how many marks a vertical axis has at most.
const upright = 6

// inUnit writes v in a unit with as few digits as it needs.
func inUnit(v, unit float64, name string) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(math.Round(v/unit*1e6)/1e6, 'f', -1, 64) + " " + name
}

func countAxis(most int64, marks int) axis {
	return newAxis(0, float64(max(most, 8)), 1, marks, func(v float64) string { return humanize.Commaf(v) })
}

// timeUnits are those of an axis of nanoseconds, and from how many of them they are used.
var timeUnits = []struct {
	ns   float64
	name string
}{{3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}

func timeAxis(most int64, marks int) axis {
	i := 0
	for float64(most) < 2*timeUnits[i].ns && i < len(timeUnits)-1 {
		i++
	}
	u := timeUnits[i]
	return newAxis(0, float64(max(most, 8)), u.ns, marks, func(v float64) string { return inUnit(v, u.ns, u.name) })
}

func shareAxis(most float64) axis {
	return newAxis(0, max(most, 0.01), 0.01, upright, func(v float64) string { return inUnit(v, 0.01, "%") })
}
