package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/replaying"
	"github.com/bufslab/bufslab/trace"
)

// reported runs the command report and returns the page.
func reported(t *testing.T, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "page.html")
	code, stdout, stderr := command(append([]string{"report", "-o", out}, args...)...)
	if code != exitOK || stderr != "" || !strings.HasPrefix(stdout, out+": ") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The figures of the page are those of bufslab replay, and the page is the same each time.
func TestReportHasTheFiguresOfAReplay(t *testing.T) {
	path := steadyTrace(t, 5000)
	page := reported(t, path)
	if again := reported(t, path); again != page {
		t.Error("the second page is another one")
	}
	traces, err := load([]string{path}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	setups, err := setupsOf(nil, reportLines)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range setups {
		r, err := replayOne(traces[0], "small", s, trace.Replayer{})
		if err != nil {
			t.Fatal(err)
		}
		row := "<code>" + s.line + "</code></td>"
		for i, cell := range reportCells(r)[1:] {
			row += fmt.Sprintf(`<td data-name="%s">%s</td>`, reportHeader[i+1], cell)
		}
		if !strings.Contains(page, row) {
			t.Errorf("the page does not have %s", row)
		}
	}
	if !strings.Contains(page, "Allocations: 5,000, frees: 5,000.") || !strings.Contains(page, "Use strategy=") {
		t.Error("the page does not say how long the trace is, or what to use")
	}
}

// steadyTrace is a recording with times of a program that has some 50 blocks out.
func steadyTrace(t *testing.T, allocs int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("op,id,size,time_ns\n")
	for i := range allocs + 50 {
		if i < allocs {
			fmt.Fprintf(&b, "a,%d,%d,%d\n", i, 100+i*7919%100_000, 1000*i)
		}
		if i >= 50 {
			fmt.Fprintf(&b, "f,%d,,%d\n", i-50, 1000*i)
		}
	}
	return file(t, b.String())
}

// The map is of the moment when the pool had the most, and has all of that.
func TestReportMapsThePeak(t *testing.T) {
	for _, line := range []string{"strategy=slab,cache_bytes=0", "strategy=bestfit", "device=virtual:fixed,strategy=slab", "strategy=slab,reserve=16MiB"} {
		traces, err := load([]string{steadyTrace(t, 5000)}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		setups, err := setupsOf([]string{line}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := newReporter(traces, setups, io.Discard)
		page, err := r.run()
		if err != nil {
			t.Fatal(err)
		}
		var memory, used int64
		for _, x := range page.Traces[0].Map.Extents {
			if x.State != replaying.Decommitted {
				memory += int64(x.Len)
			}
			if x.State == replaying.Used {
				used += int64(x.Len)
			}
		}
		if peak := r.rows[0].PeakManagedBytes; memory != peak || used < r.rows[0].PeakLiveBytes*4/10 || page.Traces[0].Map.None != "" {
			t.Errorf("%s: %d bytes in the map, %d used, %d at the peak", line, memory, used, peak)
		}
	}
}

// Samples are in order, up to the last event, and one is near the peak.
func TestReportSamples(t *testing.T) {
	traces, err := load([]string{steadyTrace(t, 50_000)}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	setups, err := setupsOf([]string{"strategy=slab"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newReporter(traces, setups, io.Discard)
	page, err := r.run()
	if err != nil {
		t.Fatal(err)
	}
	all := page.Traces[0].Runs[0]
	var live, managed int64
	for i, s := range all {
		live, managed = max(live, s.Live), max(managed, s.Managed)
		if i > 0 && s.At < all[i-1].At {
			t.Fatalf("sample %d is of %d ns, that before of %d", i, s.At, all[i-1].At)
		}
	}
	if n := len(all); n < samples || n > samples+2 || all[n-1].At != 1000*50_049 || all[n-1].Live != 0 {
		t.Errorf("%d samples, the last %+v", n, all[n-1])
	}
	of := r.rows[0]
	if float64(live) < 0.9*float64(of.PeakLiveBytes) || float64(managed) < 0.9*float64(of.PeakManagedBytes) {
		t.Errorf("at most %d live and %d managed, want some %d and %d", live, managed, of.PeakLiveBytes, of.PeakManagedBytes)
	}
}

// A name that is markup is text; a configuration without a page heap has no map, and the page says so.
func TestReportOfHostileNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), `<img src=x onerror=alert(1)>&"'.csv`)
	if err := os.WriteFile(path, []byte(small), 0o666); err != nil {
		t.Skip(err) // a file system that takes no such name
	}
	page := reported(t, "-config", "strategy=exact", "-config", `{"strategy":"direct"}`, path)
	if strings.Contains(page, "<img") || !strings.Contains(page, "&lt;img src=x onerror=alert(1)&gt;&amp;") {
		t.Error("the name is not escaped")
	}
	if !strings.Contains(page, "no page heap") || !strings.Contains(page, "{&#34;strategy&#34;:&#34;direct&#34;}") {
		t.Error("the page does not say that there is no map, or not of what")
	}
}

// Traces that are next to nothing have a page, too.
func TestReportOfSmallTraces(t *testing.T) {
	for _, text := range []string{"a,0,0\n", "a,0,100\n", "a,0,1\nf,0,\n"} {
		if page := reported(t, file(t, text)); strings.Count(page, "<svg") < 4 {
			t.Errorf("%q: charts are missing", text)
		}
	}
}

func TestReportRefuses(t *testing.T) {
	good, page := file(t, small), filepath.Join(t.TempDir(), "page.html")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{good}, exitBad, "wants -o PAGE"},
		{[]string{"-o", page, "-config", "bits=99", good}, exitBad, "bits=99"},
		{[]string{"-o", page, "-x", good}, exitBad, "-x"},
		{[]string{good, "-config", "stratgy=slab", "-o", page}, exitBad, "unknown key"},
		{[]string{"-o", page, "-config", "strategy=slab,reserve=learned:" + page + ".peak", good}, exitBad, "leave it out"},
		{[]string{"-o", page, "-config", "strategy=slab", "-config", "record=" + page + ".csv", good}, exitBad, "leave it out"},
		{[]string{"-o", page, "absent.csv"}, exitInput, "absent.csv"},
		{[]string{"-o", page, file(t, keyedSmall)}, exitInput, "report is for allocations"},
		{[]string{"-o", page, "-config", "max_bytes=2000", good}, exitFailed, "out of memory"},
		{[]string{"-o", filepath.Join(page, "in", "nothing.html"), good}, exitFailed, "nothing.html"},
	} {
		code, _, stderr := command(append([]string{"report"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, code, stderr)
		}
		if _, err := os.Stat(page); err == nil {
			t.Fatalf("%q leaves a page", c.args)
		}
	}
}

// Without a TRACE it is the recording that ships.
func TestReportOfTheShippedTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	check.Must(t, os.WriteFile("arrow-csv.csv.gz", nil, 0o666)) // which is another one
	page := reported(t, "-config", "strategy=slab")
	if !strings.Contains(page, "<h2>arrow-csv</h2>") || strings.Contains(page, "The file is of") {
		t.Error("the page is of something else")
	}
}

// The maps are of the line that the advice names, also where another one is smaller on one of the traces.
func TestMapsAreOfTheLineThatTheAdviceNames(t *testing.T) {
	small, large := t.TempDir()+"/small.csv", t.TempDir()+"/large.csv"
	for path, size := range map[string]int{small: 1000, large: 1 << 20} {
		text := strings.Repeat(fmt.Sprintf("a,0,%d\nf,0,%[1]d\n", size), 200)
		check.Must(t, os.WriteFile(path, []byte(text), 0o666))
	}
	page := reported(t, "-config", "strategy=bestfit,reserve=1MiB", "-config", "strategy=bestfit", large, small)
	if !strings.Contains(page, "Use strategy=bestfit:") || strings.Count(page, "<b>Memory at the peak of strategy=bestfit</b>") != 2 {
		t.Error(regexp.MustCompile("Use [^:]*|Memory at the peak of [^<]*").FindAllString(page, -1))
	}
}

// The line of the map is the one that the advice names.
func TestChosenIsWhatTheAdviceNames(t *testing.T) {
	rows := []row{
		{Config: "a", Result: trace.Result{MissRatio: 0.5, FootprintRatio: 1}}, {Config: "b", Result: trace.Result{MissRatio: 0.005, FootprintRatio: 1.5}},
		{Config: "c", Result: trace.Result{MissRatio: 0.01, FootprintRatio: 1.2}}, {Config: "d", Result: trace.Result{MissRatio: 0.02, FootprintRatio: 1.1}},
	}
	for n, want := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2} {
		if got := chosenOf(rows[:n]); got != want || n > 1 && !strings.HasPrefix(advice(rows[:n]), "Use "+rows[want].Config+":") {
			t.Errorf("%d of %d, want %d: %s", got, n, want, advice(rows[:n]))
		}
	}
}
