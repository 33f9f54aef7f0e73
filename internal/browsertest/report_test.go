package browsertest

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// openReport makes a report of traces and opens it.
func openReport(t *testing.T, args ...string) *browser {
	t.Helper()
	chromium(t)
	page := filepath.Join(t.TempDir(), "page.html")
	report(t, append([]string{"-o", page}, args...))
	return open(t, (&url.URL{Scheme: "file", Path: page}).String())
}

// report runs the command of this checkout.
func report(t *testing.T, args []string) {
	t.Helper()
	build := exec.Command("go", append([]string{"run", ".", "report"}, args...)...)
	build.Dir = "../../cmd/bufslab" // which is of another module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// steady writes a recording with times, under a name, and returns its path.
func steady(t *testing.T, name string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("op,id,size,time_ns\n")
	for i := range 3050 {
		if i < 3000 {
			fmt.Fprintf(&text, "a,%d,%d,%d\n", i, 100+i*7919%100_000, 1000*i)
		}
		if i >= 50 {
			fmt.Fprintf(&text, "f,%d,,%d\n", i-50, 1000*i)
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// hostile is a name that is markup, and longer than a phone is wide.
const hostile = `<img src=http:x onerror=console.error(1)>&"_a_name_without_a_space_that_is_longer_than_a_phone_is_wide.csv`

const longLine = "strategy=slab,max_bytes=4GiB,max_held=1GiB,trim_after=30s,miss_target=0.5%,cache_bytes=16MiB"

// The page asks for nothing but itself, and the browser has nothing to complain of.
func TestNothingLeavesThePage(t *testing.T) {
	b := openReport(t, steady(t, hostile))
	if text := eval[string](t, b, `document.querySelector("h2").textContent`); text != strings.TrimSuffix(hostile, ".csv") {
		t.Errorf("the name is shown as %q", text)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	others := slices.DeleteFunc(b.requests[1:], func(url string) bool { return strings.HasPrefix(url, "data:") })
	if !strings.HasPrefix(b.requests[0], "file:///") || len(others) > 0 || len(b.faults) > 0 {
		t.Errorf("asked for %q, complained of %q", b.requests, b.faults)
	}
}

// A check that cannot fail is none: a page that asks for more is found out.
func TestWhatLeavesThePageIsFound(t *testing.T) {
	b := openReport(t, steady(t, "t.csv"))
	eval[bool](t, b, `new Promise(done => { const i = new Image(); i.onerror = () => done(true); i.src = "http://127.0.0.1:1/x.png"; })`)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) < 2 && len(b.faults) == 0 {
		t.Errorf("asked for %q, complained of %q", b.requests, b.faults)
	}
}

// lines counts the lines and bars of the first trace that are seen in a format, by colour.
const counted = `(format => {
	const seen = (figure, attribute) => [...new Set([...document.querySelectorAll("." + figure + " svg." + format + " *")]
		.filter(e => e.getBoundingClientRect().width > 0).map(e => e.style[attribute].match(/var\(--(s\d|live)\)/)?.[1]))].filter(Boolean).sort().join(" ");
	return [seen("lines", "stroke"), seen("sizes", "fill")].join("; ");
})`

// Every configuration has a line, and the sizes have bars of two kinds; on a phone,
// too. The map has the page heap.
func TestChartsHaveEverySeries(t *testing.T) {
	b := openReport(t, steady(t, "t.csv"), "-config", "strategy=slab", "-config", "strategy=direct", "-config", "strategy=bitlog")
	const want = "live s0 s1 s2; s0 s1"
	if got := eval[string](t, b, counted+`("wide")`); got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
	if got := eval[string](t, b, counted+`("narrow")`); got != "; " {
		t.Errorf("a wide page shows what is for a phone: %s", got)
	}
	b.do(t, chromedp.EmulateViewport(375, 800))
	if got := eval[string](t, b, counted+`("narrow")`); got != want {
		t.Errorf("on a phone there are %s, want %s", got, want)
	}
	if n := eval[int](t, b, `[...document.querySelectorAll("svg.heap path")].filter(e => e.getBoundingClientRect().width > 0).length`); n < 2 {
		t.Errorf("the map has %d kinds of cells", n)
	}
}

// look has the colours of the page, of a line and of text in a chart, and what the switch says. Two
// frames later the page has heard of what the system wants.
const look = `(async () => {
	for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
	const of = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
	return [of("body", "backgroundColor"), of(".lines svg.wide path[style*='--s0']", "stroke"), of(".lines svg.wide text", "fill"), of("#theme", "display") === "none" ? "" : document.querySelector("#theme").textContent];
})()`

// The page follows the system, the switch toggles it, and print is light.
func TestDarkAndLight(t *testing.T) {
	b := openReport(t, steady(t, "t.csv"))
	scheme := func(name string) {
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	}
	light := eval[[]string](t, b, look)
	if light[0] != "rgb(255, 255, 255)" || light[3] != "Dark" {
		t.Errorf("a light page is %q", light)
	}
	scheme("dark")
	dark := eval[[]string](t, b, look)
	for i := range light {
		if light[i] == dark[i] {
			t.Errorf("dark as light: %s", light[i])
		}
	}
	toggle := chromedp.Click(chromedp.CSS("#theme"))
	b.do(t, toggle)
	if got := eval[[]string](t, b, look); !slices.Equal(got, light) {
		t.Errorf("the switch made it %q, want %q", got, light)
	}
	scheme("light")
	b.do(t, toggle)
	if got := eval[[]string](t, b, look); !slices.Equal(got, dark) {
		t.Errorf("the switch made it %q, want %q", got, dark)
	}
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if got := eval[[]string](t, b, look); !slices.Equal(got[:3], light[:3]) || got[3] != "" {
		t.Errorf("a dark page is printed as %q", got)
	}
}

// overflow lists what reaches beyond the right edge.
const overflow = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
	.map(e => e.tagName + " " + e.className).concat(document.documentElement.scrollWidth > innerWidth ? ["the page scrolls"] : [])`

// scrolls lists what has more in it than is seen: a column that somebody has to scroll to.
const scrolls = `[...document.querySelectorAll("body *")].filter(e => e instanceof HTMLElement && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1)
	.map(e => e.tagName + " " + e.className + " scrolls")`

// overlaps lists texts of a chart that stand on each other.
const overlaps = `[...document.querySelectorAll("svg")].flatMap(svg => {
	const boxes = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]).filter(b => b[1].width > 0);
	return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) =>
		p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 4 && q.top < p.bottom - 4).map(([b]) => a + " on " + b));
})`

// clipped lists texts of a chart that reach beyond it.
const clipped = `[...document.querySelectorAll("svg text")].filter(e => {
	const text = e.getBoundingClientRect(), svg = e.ownerSVGElement.getBoundingClientRect();
	return text.width > 0 && (text.left < svg.left - 1 || text.right > svg.right + 1 || text.bottom > svg.bottom + 1);
}).map(e => e.textContent + " is cut")`

// Nothing is wider than the window or stands on something else, from a phone to a desk, with
// long names, many lines and traces of next to nothing.
func TestNothingOverflows(t *testing.T) {
	small := steady(t, "small.csv")
	lines := []string{}
	for _, line := range []string{"", longLine, "strategy=direct", "strategy=exact", "strategy=bitlog", "strategy=bestfit", "strategy=sizeclass", "strategy=sizeclass,steps=8", "strategy=slab,cache_bytes=0"} {
		lines = append(lines, "-config", line)
	}
	b := openReport(t, append(lines, steady(t, hostile), small, "arrow-csv.csv.gz")...)
	for _, width := range []int64{320, 375, 640, 641, 800, 1280} {
		b.do(t, chromedp.EmulateViewport(width, 800))
		for _, what := range []string{overflow, scrolls, overlaps, clipped} {
			if got := eval[[]string](t, b, what); len(got) > 0 {
				t.Errorf("at %d pixels %q", width, got)
			}
		}
	}
}

// The page can be printed, each trace from a page of its own.
func TestPrint(t *testing.T) {
	b := openReport(t, steady(t, "a.csv"), steady(t, "b.csv"))
	pdf, err := chromedp.Run(b, chromedp.PrintToPDF())
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(pdf, []byte("/Type /Page\n")); !bytes.HasPrefix(pdf, []byte("%PDF-")) || n < 3 || n > 6 {
		t.Errorf("%d bytes with %d pages", len(pdf), n)
	}
}
