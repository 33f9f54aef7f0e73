package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/bufslab/bufslab/trace"
)

// from lets the command read a text as its standard input.
func from(t *testing.T, text string) {
	t.Helper()
	was := stdin
	t.Cleanup(func() { stdin = was })
	stdin = strings.NewReader(text)
}

// What comes in by the standard input is replayed as a file would be.
func TestReplayOfTheStandardInput(t *testing.T) {
	from(t, small)
	code, out, stderr := command("replay", "-config", "strategy=direct", "-")
	if code != exitOK || stderr != "" || !strings.Contains(out, "| stdin | strategy=direct |      3 |   2.9 KiB |      2.9 KiB |     1.000 |        3 | 100.00 |") {
		t.Errorf("exit %d: %s\n%s", code, stderr, out)
	}
	for text, want := range map[string]struct {
		code int
		says string
	}{
		"":                {exitInput, "stdin:1: malformed row: no whole row"},
		"a,0,8\nf,1,8\n":  {exitInput, "stdin:2: id 1 freed: unknown id"},
		"g,k,8\n":         {exitInput, "op g"},
		"a,0,8\nf,0,8\na": {exitOK, "cut short"},
		"a,0,3000\n":      {exitFailed, "out of memory"},
	} {
		from(t, text)
		code, _, stderr := command("replay", "-json", "-config", "device=virtual:2000,strategy=direct", "-")
		if code != want.code || !strings.Contains(stderr, want.says) {
			t.Errorf("%q: exit %d, %s", text, code, stderr)
		}
	}
	from(t, small)
	if code, _, _ := command("replay", "-config", "device=tape", "-"); code != exitBad {
		t.Errorf("exit %d", code)
	}
}

// Traces have one name in tables and JSON: that of the file, or the path if two share it.
func TestTracesHaveOneName(t *testing.T) {
	a, b := file(t, small), file(t, small)
	other := filepath.Join(filepath.Dir(a), "other.csv.gz")
	if err := os.WriteFile(other, []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, form := range [][]string{{"-json"}, {}} {
		args := append([]string{"replay", "-config", "strategy=direct"}, form...)
		_, out, stderr := command(append(args, a, b, other)...)
		for _, name := range []string{a, b, "other"} {
			if strings.Count(out, "| "+name+" ")+strings.Count(out, `"trace":`+strconv.Quote(name)) != 1 {
				t.Errorf("no %s in\n%s%s", name, out, stderr)
			}
		}
	}
}

// The bar of a file counts its bytes, and without a terminal there is none.
func TestTheBarCountsBytes(t *testing.T) {
	if p := newProgress(100, "", &bytes.Buffer{}); p.bar != nil {
		t.Error("a bar on no terminal")
	}
	synctest.Test(t, func(t *testing.T) {
		var drawn bytes.Buffer
		bar := newBar(int64(len(small)), "loading", &drawn)
		time.Sleep(2 * untimed)
		n, err := io.Copy(io.Discard, &counted{from: strings.NewReader(small[:len(small)/2]), bar: bar})
		if s := bar.bar.State(); err != nil || s.CurrentNum != n || s.Max != int64(len(small)) || !strings.Contains(drawn.String(), "loading") {
			t.Errorf("%d of %d read: %q, %v", s.CurrentNum, n, &drawn, err)
		}
	})
}

// A bar shows no rate until there is a time to divide by, and then that since its beginning.
func TestTheFirstRateOfABar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var drawn bytes.Buffer
		bar := newBar(1<<30, "loading", &drawn, progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
		time.Sleep(time.Microsecond)
		bar.set(64 << 10)
		if s := drawn.String(); strings.Contains(s, "/s") {
			t.Errorf("after a microsecond %q", s)
		}
		time.Sleep(time.Second - time.Microsecond)
		if bar.set(5_000_000); !strings.Contains(drawn.String(), "5.0 MB/s") {
			t.Errorf("after a second %q", &drawn)
		}
	})
}

// What a trace leaks is a column. A pool that leaves memory behind of itself has failed.
func TestLeaksOfTheTraceAreAColumn(t *testing.T) {
	code, out, stderr := command("replay", "-config", "strategy=slab", file(t, "a,0,1000\na,1,24\nf,1,24\n"))
	if code != exitOK || stderr != "" || !strings.Contains(out, "| 1000 B |") {
		t.Errorf("exit %d: %s\n%s", code, stderr, out)
	}
	if err := newRow("", "", trace.Result{EndUpstreamBytes: 5}).fault(); err == nil {
		t.Error("5 bytes are left, and that is no error")
	}
}

// What a pool has left behind fails the command, and the row is printed.
func TestWhatIsLeftBehindIsAFailure(t *testing.T) {
	var out, stderr strings.Builder
	left := job{label: "a", what: "b", run: func(func(int)) (line, error) { return newRow("a", "b", trace.Result{EndUpstreamBytes: 5}), nil }}
	if code := runAll([]job{left}, newJSON(&out), &stderr); code != exitFailed || !strings.Contains(stderr.String(), "a with b: ") || out.Len() == 0 {
		t.Errorf("exit %d\n%s%s", code, &out, &stderr)
	}
}

func TestTheTableEndsWithALineToUse(t *testing.T) {
	rows := func(of ...float64) (all []row) { // footprint and miss ratio of line A, B, ... in turns
		for i := 0; i < len(of); i += 2 {
			all = append(all, newRow(fmt.Sprint("t", i/6), "device=virtual,strategy="+string(rune('A'+i/2%3)), trace.Result{FootprintRatio: of[i], MissRatio: of[i+1]}))
		}
		return all
	}
	for want, of := range map[string][]row{
		"Use strategy=B: the smallest footprint of these lines with at most 1 % misses, 1.200.":             rows(1, 1, 1.2, 0.01, 1.3, 0),
		"Use strategy=C: the smallest footprint of these lines with at most 1 % misses, 1.414 on 2 traces.": rows(2, 0, 1, 0, 1, 0, 2, 0, 1, 0.02, 2, 0),
		"Use strategy=A: the smallest footprint of these lines with at most 1 % misses, 2.000 on 2 traces.": rows(2, 0, 1, 0, 3, 0, 2, 0),
		"No line kept to 1 % of misses.": rows(2, 1, 1, 1),
	} {
		if got := advice(of); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := advice(rows(1, 0)); got != "" {
		t.Errorf("one line: %q", got)
	}
	again := append(rows(2, 0, 1.5, 0), rows(2, 0)...) // a line that was given twice
	if got := advice(again); !strings.HasPrefix(got, "Use strategy=B: ") || strings.Contains(got, "traces") {
		t.Errorf("a line twice: %q", got)
	}
	idle := newRow("idle", "device=virtual,strategy=A", trace.Result{}) // had no bytes: it says nothing of any line
	other := newRow("idle", "device=virtual,strategy=B", trace.Result{})
	if got := advice(append(rows(2, 0, 1.21, 0), idle, other)); !strings.HasPrefix(got, "Use strategy=B: ") || !strings.Contains(got, " 1.100 on 2 traces") {
		t.Errorf("beside a trace without bytes: %q", got)
	}
	if n := (&candidate{logs: math.Log(9), traces: 2}).footprint(); math.Abs(n-3) > 1e-9 {
		t.Errorf("mean %v", n)
	}
	_, out, _ := command("replay", "-config", "strategy=direct", "-config", "strategy=exact", "-config", "strategy=slab", file(t, "op,id,size\n"+strings.Repeat("a,0,4096\nf,0,4096\n", 200)))
	if !strings.Contains(out, "\nUse strategy=exact: ") || !strings.HasSuffix(out, "use bufslab tune.\n") {
		t.Error(out)
	}
}

func TestVersionSaysWhatWasBuilt(t *testing.T) {
	code, out, _ := command("version")
	if code != exitOK || !strings.HasPrefix(out, "bufslab ") || !strings.Contains(out, ", go") {
		t.Errorf("exit %d: %s", code, out)
	}
	got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}})
	if !strings.HasPrefix(got, "bufslab v1.2.3, commit abc and changes, go") {
		t.Error(got)
	}
}

// The whole command line repeats, on three processors.
func TestTheCommandRepeats(t *testing.T) {
	first := ""
	for range 2 {
		_, out, stderr := command("replay", "-json", "-procs", "3", "-config", "strategy=slab", "-config", "strategy=sizeclass")
		out = noTimes.ReplaceAllString(out, "")
		if first == "" {
			first = out
		}
		if out != first || stderr != "" {
			t.Errorf("%s\n%s, first\n%s", stderr, out, first)
		}
	}
}
