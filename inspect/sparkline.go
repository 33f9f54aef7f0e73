package inspect

import (
	"fmt"
	"strings"
	"time"
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
	width, height = 600, 100
	top           = 4 // where the highest value is, so that its line is seen whole

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

// draw draws points of lines with some names up to the last sample of a history.
func draw(title string, names [2]string, points []point, history []sample, format func(int64) string) sparkline {
	first, last := history[0].at, history[len(history)-1].at
	span, most := max(shortest, last.Sub(first)), 0.0
	for _, p := range points {
		most = max(most, p.values[0], p.values[1])
	}
	s := sparkline{Title: title, Span: fmt.Sprintf("%.f s", span.Seconds()), Most: format(int64(most))}
	for i, name := range names {
		s.Lines[i] = trace(name, points, func(p point) (x, y float64) {
			return width * (1 - float64(last.Sub(p.at))/float64(span)), height - (height-top)*p.values[i]/max(most, 1)
		})
	}
	return s
}

// trace draws the points of one line, which at says the places of.
func trace(name string, points []point, at func(point) (x, y float64)) line {
	var path, area strings.Builder
	for i, p := range points {
		x, y := at(p)
		if p.begins {
			fmt.Fprintf(&path, "M%.1f %.1fh0", x, y) // a dot, where nothing follows
			fmt.Fprintf(&area, "M%.1f %d", x, height)
		}
		fmt.Fprintf(&path, "L%.1f %.1f", x, y)
		fmt.Fprintf(&area, "L%.1f %.1f", x, y)
		if i == len(points)-1 || points[i+1].begins {
			fmt.Fprintf(&area, "L%.1f %dz", x, height)
		}
	}
	return line{name, path.String(), area.String()}
}
