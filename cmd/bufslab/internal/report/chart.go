package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/go-analyze/charts"
)

// Colours of the page are variables of its style sheet, which have a value each for dark and
// light. The library knows fixed colours only: it draws with those that stand for a
// variable, and paint puts the variable in their place.

// palette is how many colours there are for configurations; then they begin again.
const palette = 8

var (
	ink  = charts.Color{R: 1, G: 2, B: 253, A: 255}
	grid = charts.Color{R: 1, G: 2, B: 254, A: 255}
	live = charts.Color{R: 1, G: 2, B: 252, A: 255}
	mark = charts.Color{R: 1, G: 2, B: 251, A: 255} // of text below a horizontal axis
)

// seriesColor stands for the colour of configuration i.
func seriesColor(i int) charts.Color {
	return charts.Color{R: 1, G: 3, B: uint8(200 + i%palette), A: 255}
}

// series is the variable with the colour of configuration i.
func series(i int) template.CSS { return template.CSS(fmt.Sprintf("--s%d", i%palette)) }

var paint = func() *strings.Replacer {
	pairs := []string{"'Roboto Medium',sans-serif", "inherit"}
	add := func(c charts.Color, variable string) { pairs = append(pairs, c.String(), "var("+variable+")") }
	add(ink, "--ink")
	add(grid, "--grid")
	add(live, "--live")
	for i := range palette {
		add(seriesColor(i), string(series(i)))
	}
	return strings.NewReplacer(pairs...)
}()

// A format is a size that a chart is drawn in: for a wide page, and for a phone.
type format struct {
	class         string
	width, height int
	marks         int // of a horizontal axis, at most
}

var (
	whole  = []format{{"wide", 960, 280, 7}, {"narrow", 360, 240, 4}}
	beside = []format{{"wide", 470, 280, 5}, {"narrow", 360, 240, 4}} // two in a row
)

const fontSize = 9 // points

// drawn draws a chart in each format. The style sheet shows the one that fits.
func drawn(formats []format, label string, draw func(*charts.Painter, format) error) (template.HTML, error) {
	var all strings.Builder
	for _, f := range formats {
		p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: f.width, Height: f.height})
		if err := draw(p, f); err != nil {
			return "", err
		}
		svg, err := p.Bytes()
		if err != nil {
			return "", err
		}
		head := fmt.Sprintf(`<svg class="%s" role="img" aria-label="%s" `, f.class, template.HTMLEscapeString(label))
		all.WriteString(strings.Replace(paint.Replace(centred(string(svg))), "<svg ", head, 1))
	}
	return template.HTML(all.String()), nil
}

// centred moves the text of marks below them: the library begins it there, and lets it overlap the last
// one, which ends where the axis does.
func centred(svg string) string {
	n := strings.Count(svg, mark.String())
	svg = strings.Replace(svg, mark.String(), ink.String()+";text-anchor:middle", n-1)
	return strings.Replace(svg, mark.String(), ink.String(), 1)
}

// theme has the colours of a chart whose series are drawn in some.
func theme(colors ...charts.Color) charts.ColorPalette {
	return charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor: ink, AxisSplitLineColor: grid, BackgroundColor: charts.ColorTransparent,
		TextColor: ink, TextColorLabel: ink, TextColorMark: ink, TextColorXAxis: ink, TextColorYAxis: ink,
		SeriesColors: colors,
	})
}

var (
	font    = charts.FontStyle{FontSize: fontSize, FontColor: ink}
	below   = charts.FontStyle{FontSize: fontSize, FontColor: mark}
	padding = charts.NewBox(10, 10, 16, 2)
	hidden  = charts.LegendOption{Show: charts.Ptr(false)} // the page has one in HTML
)

// columns is how many parts a horizontal axis has; marks of an axis stand at whole ones.
const columns = 60 * 7

// horizontal is an axis of columns+1 points.
func (a axis) horizontal() charts.XAxisOption {
	labels := make([]string, columns+1)
	for i := range labels {
		labels[i] = a.label(a.min + (a.max-a.min)*float64(i)/columns)
	}
	return charts.XAxisOption{Labels: labels, LabelCount: a.steps + 1, LabelFontStyle: below, BoundaryGap: charts.Ptr(false)}
}

func (a axis) vertical() []charts.YAxisOption {
	return []charts.YAxisOption{{Min: charts.Ptr(a.min), Max: charts.Ptr(a.max), LabelCount: a.steps + 1, LabelFontStyle: font,
		LabelOffset: charts.OffsetInt{Left: -6}, PreferNiceIntervals: charts.Ptr(false), ValueFormatter: a.label}}
}
