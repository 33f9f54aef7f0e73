package inspect

import (
	"fmt"
	"time"

	"github.com/bufslab/bufslab/internal/chart"
)

// A sparkline has two lines over time, from 0 to the highest value of both. It is drawn in an
// image of 600 by 100 that the page stretches.
type sparkline struct {
	Title string
	Span  string // how long ago it begins
	Most  string // the highest value
	Lines [2]line
}

// A line has a name, that of its class in page.css, too, and the paths of the line and of the
// area below it.
type line struct{ Class, Line, Area string }

const (
	shortest = time.Minute      // that a sparkline spans
	unseen   = 10 * time.Second // without a sample are a gap: no one looked
)

// A point has the values of both lines. After a gap lines begin anew.
type point struct {
	at     time.Time
	values [2]float64
	begins bool
}

// memory is managed and active bytes.
func memory(history []sample) []point {
	var list []point
	for i, s := range history {
		begins := i == 0 || s.at.Sub(history[i-1].at) > unseen
		list = append(list, point{s.at, [2]float64{float64(s.managed), float64(s.active)}, begins})
	}
	return list
}

// gets is hits and misses a second, between samples. Counts may fall by a few beside a Get.
func gets(history []sample) []point {
	var list []point
	begins := true
	for i := 1; i < len(history); i++ {
		s, before := history[i], history[i-1]
		if s.at.Sub(before.at) > unseen {
			begins = true
			continue
		}
		seconds := s.at.Sub(before.at).Seconds()
		rate := func(n int64) float64 { return float64(max(0, n)) / seconds }
		list = append(list, point{s.at, [2]float64{rate(s.hits - before.hits), rate(s.misses - before.misses)}, begins})
		begins = false
	}
	return list
}

// frame has the highest value a little below the top, so that its line is seen whole.
var frame = chart.Frame{Top: 4, Right: 600, Bottom: 100}

// draw draws points of lines with some names up to the last sample of a history.
func draw(title string, names [2]string, points []point, history []sample, format func(int64) string) sparkline {
	first, last := history[0].at, history[len(history)-1].at
	span, most := max(shortest, last.Sub(first)), 0.0
	for _, p := range points {
		most = max(most, p.values[0], p.values[1])
	}
	s := sparkline{Title: title, Span: fmt.Sprintf("%.f s", span.Seconds()), Most: format(int64(most))}
	for i, name := range names {
		places := make([]chart.Point, len(points))
		for at, p := range points {
			x, y := 1-float64(last.Sub(p.at))/float64(span), p.values[i]/max(most, 1)
			places[at] = chart.Point{X: x, Y: y, Begins: p.begins}
		}
		s.Lines[i] = line{name, frame.Line(places), frame.Area(places)}
	}
	return s
}
