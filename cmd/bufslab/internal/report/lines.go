package report

import (
	"html/template"

	"github.com/go-analyze/charts"
)

// Lines draws live and managed bytes over time, or over events.
func (t *Trace) Lines() (template.HTML, error) {
	colors := []charts.Color{}
	for i := range t.Runs {
		colors = append(colors, seriesColor(i))
	}
	look := theme(append(colors, live)...)
	return drawn(whole, "live and managed bytes over time", func(p *charts.Painter, f format) error {
		across, up := t.axes(f)
		return p.LineChart(charts.LineChartOption{Theme: look, Padding: padding, SeriesList: t.lines(across), Legend: hidden,
			XAxis: across.horizontal(), YAxis: up.vertical(), LineStrokeWidth: 1.5, Symbol: charts.Symbol{Shape: charts.SymbolNone}})
	})
}

// lines are the managed bytes of each configuration, and the live bytes, which are the same
// in all.
func (t *Trace) lines(across axis) (list charts.LineSeriesList) {
	for _, r := range t.Runs {
		list = append(list, charts.LineSeries{Values: highest(r.Samples, across, func(s Sample) int64 { return s.Managed })})
	}
	return append(list, charts.LineSeries{Values: highest(t.Runs[0].Samples, across, func(s Sample) int64 { return s.Live })})
}

// axes have room for all samples.
func (t *Trace) axes(f format) (across, up axis) {
	var last, most int64
	for _, r := range t.Runs {
		for _, s := range r.Samples {
			last, most = max(last, s.At), max(most, s.Live, s.Managed)
		}
	}
	if t.Timed {
		return timeAxis(last, f.marks), bytesAxis(most)
	}
	return countAxis(last, f.marks), bytesAxis(most)
}

// highest returns the highest value of the samples in each column: a short peak shows. In a
// column without a sample it is that of the last one before.
func highest(samples []Sample, across axis, value func(Sample) int64) []float64 {
	values := make([]float64, columns+1)
	at, last := 0, 0.0
	for _, s := range samples {
		column := across.at(float64(s.At), columns)
		for ; at < column; at++ {
			values[at] = max(values[at], last)
		}
		last = float64(value(s))
		values[column] = max(values[column], last)
	}
	for at++; at <= columns; at++ { // nothing is known of what follows
		values[at] = charts.GetNullValue()
	}
	return values
}
