package report

import "github.com/bufslab/bufslab/internal/chart"

// columns is how many parts of a horizontal axis have a value of their own.
const columns = 420

// Lines draws live and managed bytes over time, or over events.
func (t *Trace) Lines() (all []*drawing) {
	for _, f := range formats {
		across, up := t.axes(f)
		d := newDrawing(f, "live and managed bytes over time", up)
		d.across(across)
		line := func(samples []Sample, value func(Sample) int64) string {
			return d.frame.Line(highest(samples, across, up, value))
		}
		const style = "fill:none;stroke-width:2px;stroke:%s"
		for i, r := range t.Runs {
			d.draw(style, series(i), line(r, func(s Sample) int64 { return s.Managed }))
		}
		d.draw(style, "--live", line(t.Runs[0], func(s Sample) int64 { return s.Live })) // the same in all runs
		all = append(all, d)
	}
	return all
}

// axes have room for all samples.
func (t *Trace) axes(f format) (across, up axis) {
	var last, most int64
	for _, r := range t.Runs {
		for _, s := range r {
			last, most = max(last, s.At), max(most, s.Live, s.Managed)
		}
	}
	if t.Timed {
		return timeAxis(last, f.marks), bytesAxis(most)
	}
	return countAxis(last, f.marks), bytesAxis(most)
}

// highest has the highest value of the samples in each column, as far as there are samples: a short
// peak shows. In a column without a sample it is the value of the last one before.
func highest(samples []Sample, across, up axis, value func(Sample) int64) (line []chart.Point) {
	last := int64(0)
	for _, s := range samples {
		column := across.at(float64(s.At), columns)
		for next := len(line); next <= column; next++ {
			p := chart.Point{X: float64(next) / columns, Begins: next == 0}
			if next < column {
				p.Y = up.share(float64(last))
			}
			line = append(line, p)
		}
		last = value(s)
		line[column].Y = max(line[column].Y, up.share(float64(last)))
	}
	return line
}
