package report

import (
	"fmt"
	"html/template"
	"math"
	"unicode/utf8"

	"github.com/bufslab/bufslab/internal/chart"
)

// palette is how many colours there are for configurations; then they begin again.
const palette = 8

// series is the variable of the style sheet with the colour of configuration i. It has a value
// each for dark and light.
func series(i int) template.CSS { return template.CSS(fmt.Sprintf("--s%d", i%palette)) }

// A format is a size that a chart is drawn in: for a wide page, and for a phone. The style sheet
// shows the one that fits.
type format struct {
	class         string
	width, height int
	marks         int // of a horizontal axis, at most
}

var formats = []format{{"wide", 960, 280, 7}, {"narrow", 360, 240, 4}}

// A drawing is a chart in a format. page.html shows it.
type drawing struct {
	Class, Label  string
	Width, Height int
	Grid, Base    string // paths: of the marks of the vertical axis, of the horizontal axis
	Paths         []path
	Texts         []text

	frame chart.Frame
}

// A path is a line or the bars of a series.
type path struct {
	Style template.CSS
	D     string
}

// A text begins, ends or has its middle where it stands, as its anchor says.
type text struct {
	X, Y         float64
	Anchor, Text string
}

const (
	letter = 7.0  // the width of one, about
	margin = 10.0 // beside and above the frame, and between a text and what it names
	below  = 24.0 // the frame, for texts
)

// newDrawing draws a vertical axis.
func newDrawing(f format, label string, up axis) *drawing {
	longest := 0
	for i := range up.steps + 1 {
		longest = max(longest, utf8.RuneCountInString(up.mark(i)))
	}
	d := &drawing{Class: f.class, Label: label, Width: f.width, Height: f.height}
	d.frame = chart.Frame{Left: (float64(longest)+0.5)*letter + margin, Top: margin,
		Right: float64(f.width) - margin, Bottom: float64(f.height) - below}
	for i := range up.steps + 1 {
		at := float64(i) / float64(up.steps)
		x, y := d.frame.At(chart.Point{Y: at})
		d.write(x-margin, y, "end", up.mark(i))
		if rule := d.frame.Line([]chart.Point{{Y: at, Begins: true}, {X: 1, Y: at}}); i == 0 {
			d.Base = rule
		} else {
			d.Grid += rule
		}
	}
	return d
}

// across writes the marks of a horizontal axis. The last one ends where the axis does.
func (d *drawing) across(a axis) {
	for i := range a.steps + 1 {
		x, _ := d.frame.At(chart.Point{X: float64(i) / float64(a.steps)})
		d.write(x, d.under(), "middle", a.mark(i))
	}
	d.Texts[len(d.Texts)-1].Anchor = "end"
}

// under is where texts below the frame stand.
func (d *drawing) under() float64 { return d.frame.Bottom + below/2 }

// write adds a text whose middle has the height y.
func (d *drawing) write(x, y float64, anchor, name string) {
	d.Texts = append(d.Texts, text{math.Round(x), math.Round(y) + 4, anchor, name})
}

// draw adds a path whose style has the variable of a colour in place of %s.
func (d *drawing) draw(style string, variable template.CSS, way string) {
	d.Paths = append(d.Paths, path{template.CSS(fmt.Sprintf(style, "var("+string(variable)+")")), way})
}
