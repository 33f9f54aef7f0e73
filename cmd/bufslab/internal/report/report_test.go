package report

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/replaying"
)

// samplePage has a trace with as many configurations as are asked for.
func samplePage(configs int) *Page {
	p := &Page{Version: "bufslab v1", Header: []string{"config", "footprint"}}
	t := Trace{Name: "small", Sizes: []Size{{Max: 64, Allocs: 3, Bytes: 100}, {Max: 128, Allocs: 1, Bytes: 100}},
		Map: Map{Config: "a", Extents: []replaying.Extent{{Len: 640}, {Off: 640, Len: 64, State: replaying.Free}}}}
	for i := range configs {
		line := fmt.Sprintf("strategy=s%d", i)
		p.Configs = append(p.Configs, line)
		t.Rows = append(t.Rows, []string{line, "1.000"})
		t.Runs = append(t.Runs, []Sample{{0, 0, 0}, {10, 100, int64(110 + i)}, {20, 50, int64(120 + i)}})
	}
	p.Traces = []Trace{t}
	return p
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Nothing on the page is fetched, and no colour is left that does not follow dark and light.
func TestAPageNeedsNothingElse(t *testing.T) {
	page := written(t, samplePage(12))
	if found := regexp.MustCompile(`(?i)(src|href)="[^#d]|@import|url\(|rgb\(|ZgotmplZ`).FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	for i := range palette {
		if !strings.Contains(page, fmt.Sprintf("stroke:var(--s%d)", i)) || !strings.Contains(page, fmt.Sprintf("--s%d: light-dark(", i)) {
			t.Errorf("colour %d is not used or not defined", i)
		}
	}
}

// Markup in a name, a line, a warning or the advice is text on the page.
func TestNamesAreEscaped(t *testing.T) {
	const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>{{.}}`
	p := samplePage(1)
	p.Version, p.Advice, p.Configs[0] = hostile, hostile, hostile
	p.Traces = append(p.Traces, p.Traces[0])
	tr := &p.Traces[0]
	tr.Name, tr.About, tr.Warnings, tr.Map.Config, tr.Rows[0][0] = hostile, hostile, []string{hostile}, hostile, hostile
	tr.Map.None = hostile
	p.Header = []string{hostile, hostile}
	page := written(t, p)
	if strings.Contains(page, "<img") || strings.Count(page, "<script") != 1 {
		t.Error("markup of a name is markup of the page")
	}
	if n := strings.Count(page, "&lt;script&gt;alert(1)&lt;/script&gt;"); n < 10 {
		t.Errorf("names are shown %d times", n)
	}
}

// The list of traces is there where there are several.
func TestSeveralTracesHaveAList(t *testing.T) {
	p := samplePage(2)
	if strings.Contains(written(t, p), "#trace-1") {
		t.Error("one trace has a list")
	}
	p.Traces = append(p.Traces, p.Traces[0])
	if page := written(t, p); !strings.Contains(page, `href="#trace-2"`) || !strings.Contains(page, `id="trace-2"`) {
		t.Error("two traces have none")
	}
}

// An axis begins where it is told, ends at the largest value or little above, and has marks that
// are round in its unit.
func TestAxes(t *testing.T) {
	for _, c := range []struct {
		axis axis
		want string
	}{
		{bytesAxis(0), "0 2 B 4 B 6 B 8 B"},
		{bytesAxis(1023), "0 400 B 800 B 1200 B"},
		{bytesAxis(5 << 20), "0 1 MiB 2 MiB 3 MiB 4 MiB 5 MiB"},
		{bytesAxis(7<<30 + 1), "0 2.5 GiB 5 GiB 7.5 GiB"},
		{countAxis(415_870, 7), "0 60,000 120,000 180,000 240,000 300,000 360,000 420,000"},
		{countAxis(415_870, 4), "0 150,000 300,000 450,000"},
		{timeAxis(1_480_000_000, 7), "0 300 ms 600 ms 900 ms 1200 ms 1500 ms"},
		{timeAxis(4*3600e9, 4), "0 2 h 4 h"},
		{shareAxis(0.53), "0 20 % 40 % 60 %"},
	} {
		var marks []string
		for i := range c.axis.steps + 1 {
			marks = append(marks, c.axis.label(c.axis.min+(c.axis.max-c.axis.min)*float64(i)/float64(c.axis.steps)))
		}
		if got := strings.Join(marks, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if a := (axis{min: 1, max: 3}); a.at(0, 10) != 0 || a.at(2, 10) != 5 || a.at(9, 10) != 10 {
		t.Error("values do not stand where they should")
	}
}

// A column shows the highest sample in it, one without a sample the last before, and what
// comes after the last sample is not drawn.
func TestHighest(t *testing.T) {
	across := axis{max: columns}
	samples := []Sample{{At: 0, Managed: 5}, {At: 2, Managed: 7}, {At: 2, Managed: 3}, {At: 4, Managed: 1}}
	line := highest(samples, across, axis{max: 10}, func(s Sample) int64 { return s.Managed })
	var got []float64
	for i, p := range line {
		if got = append(got, 10*p.Y); p.X != float64(i)/columns || p.Begins != (i == 0) {
			t.Errorf("column %d is %+v", i, p)
		}
	}
	if want := []float64{5, 5, 7, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSizesCountByPowersOfTwo(t *testing.T) {
	var s Sizes
	if s.List() != nil {
		t.Error("sizes of nothing")
	}
	for _, n := range []int{0, 1, 64, 65, 128, 5000, math.MaxInt} {
		s.Add(n)
	}
	list := s.List()
	for max, want := range map[int64]Size{1: {1, 2, 1}, 64: {64, 1, 64}, 128: {128, 2, 193}, 8192: {8192, 1, 5000}, 256: {256, 0, 0}} {
		if i := slices.IndexFunc(list, func(s Size) bool { return s.Max == max }); i < 0 || list[i] != want {
			t.Errorf("of at most %d: %v", max, list)
		}
	}
	for _, n := range []int{0, 1000, math.MaxInt} {
		var one Sizes
		if one.Add(n); len(one.List()) < fewest {
			t.Errorf("%d bars of %d bytes", len(one.List()), n)
		}
	}
}

// A map has a cell for every part of the heap, in the colour of what most of it is.
func TestCells(t *testing.T) {
	m := Map{Extents: []replaying.Extent{
		{Len: 128}, {Off: 128, Len: 64, State: replaying.Free}, {Off: 192, Len: 32}, {Off: 224, Len: 32, State: replaying.Free},
		{Region: 1, Len: 64, State: replaying.Decommitted}, {Region: 1, Off: 64, Len: 64 * mapColumns}}}
	c := m.Cells()
	var paths []string
	for _, k := range c.Kinds {
		paths = append(paths, fmt.Sprint(k.Class, " ", k.Bytes, " ", k.Extents, " ", k.Largest, " ", k.Path))
	}
	want := []string{"used 6304 3 6144 M0 0h2v1h-2zM5 0h91v1h-91zM0 1h5v1h-5z", "free 96 2 64 M2 0h1v1h-1z",
		"decommitted 64 1 64 M4 0h1v1h-1z", "partly 0 0 0 M3 0h1v1h-1z"}
	if c.Cell != 64 || c.Rows != 2 || !slices.Equal(paths, want) {
		t.Errorf("%d rows of cells of %d bytes: %q, want %q", c.Rows, c.Cell, paths, want)
	}
	big := Map{Extents: []replaying.Extent{{Len: 1 << 30}}}
	if c := big.Cells(); c.Rows > mostCells/mapColumns || c.Rows*2 < mostCells/mapColumns/2 {
		t.Errorf("a GiB has %d rows of cells of %d bytes", c.Rows, c.Cell)
	}
}

// A bar stands on the axis however small its share is, and where there is none there is no bar.
func TestSmallBarsCanBeSeen(t *testing.T) {
	var sizes Sizes
	for size, n := range map[int]int{1: 3, 16: 40, 4096: 100, 1 << 20: 3000} {
		for range n {
			sizes.Add(size)
		}
	}
	var bars [][]string
	for _, d := range (&Trace{Sizes: sizes.List()}).Histogram() {
		for _, p := range d.Paths {
			bars = append(bars, regexp.MustCompile(`M\S+ (\d+)V([\d.]+)h[\d.]+V(\d+)z`).FindAllStringSubmatch(p.D, -1)...)
		}
	}
	if len(bars) != 2*2*4 { // of allocations and bytes, wide and narrow, four sizes
		t.Errorf("%d bars", len(bars))
	}
	for _, b := range bars {
		top, bottom := check.Ok(strconv.ParseFloat(b[2], 64))(t), check.Ok(strconv.ParseFloat(b[1], 64))(t)
		if bottom-top < leastBar || b[1] != b[3] {
			t.Errorf("a bar from %v to %v", top, bottom)
		}
	}
}
