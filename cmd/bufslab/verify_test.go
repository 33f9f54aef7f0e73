package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// statsFile writes Stats, and returns the path.
func statsFile(t *testing.T, v any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stats.json")
	check.Must(t, os.WriteFile(path, check.Ok(json.Marshal(v))(t), 0o666))
	return path
}

// What a process managed is held against the replay; if it had more out than the recording, against as much more.
func TestVerify(t *testing.T) {
	path := file(t, small) // at most 3,000 bytes live, and managed by strategy=direct
	for _, c := range []struct {
		managed, active int64
		args            []string
		code            int
		ratio           float64
	}{
		{3000, 3000, nil, exitOK, 1},
		{3300, 3000, nil, exitOK, 1.1},
		{3301, 3000, nil, exitFailed, 3301.0 / 3000},
		{3301, 2000, nil, exitFailed, 3301.0 / 3000}, // less out is no excuse
		{3301, 0, nil, exitFailed, 3301.0 / 3000},    // unknown
		{6600, 6000, nil, exitOK, 1.1},
		{6700, 6000, nil, exitFailed, 6700.0 / 6000},
		{6000, 3000, []string{"-most", "2"}, exitOK, 2},
	} {
		s := slab.Stats{PeakManagedBytes: c.managed, PeakActiveBytes: c.active}
		code, out, stderr := command(append([]string{"verify", "-json", "strategy=direct", statsFile(t, s), path}, c.args...)...)
		var v verdict
		check.Must(t, json.Unmarshal([]byte(out), &v))
		if code != c.code || stderr != "" || v.Holds != (code == exitOK) || v.LiveBytes != c.managed || fmt.Sprintf("%.6f", v.Ratio) != fmt.Sprintf("%.6f", c.ratio) {
			t.Errorf("%+v: exit %d: %s%s", c, code, out, stderr)
		}
	}
	states := []map[string]any{{"name": "x", "stats": slab.Stats{PeakManagedBytes: 4000, PeakActiveBytes: 2500}}}
	code, out, _ := command("verify", "strategy=direct", statsFile(t, states), path)
	if want := "1.333 of the promise. The promise does not hold: at most 1.10 was to be.\n"; code != exitFailed || !strings.HasSuffix(out, want) || !strings.Contains(out, "(footprint 1.600, 2.4 KiB live at most)") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestVerifyRefuses(t *testing.T) {
	good, stats := file(t, small), statsFile(t, slab.Stats{PeakManagedBytes: 10})
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitBad, "wants LINE, STATS and TRACE", []string{"strategy=direct", stats}},
		{exitBad, "stratgy", []string{"stratgy=direct", stats, good}},
		{exitBad, "leave it out", []string{"record=x.csv", stats, good}},
		{exitBad, "-most 0", []string{"-most", "0", "strategy=direct", stats, good}},
		{exitBad, "-most +Inf", []string{"-most", "Inf", "-json", "strategy=direct", stats, good}},
		{exitInput, "absent.json", []string{"strategy=direct", "absent.json", good}},
		{exitInput, "want the Stats of a pool", []string{"strategy=direct", good, good}},
		{exitInput, "no peak_managed_bytes above 0", []string{"strategy=direct", statsFile(t, slab.Stats{}), good}},
		{exitInput, "absent.csv", []string{"strategy=direct", stats, "absent.csv"}},
		{exitInput, "verify is for allocations", []string{"strategy=direct", stats, file(t, keyedSmall)}},
		{exitFailed, "out of memory", []string{"strategy=direct,max_bytes=10", stats, good}},
	} {
		if code, _, stderr := command(append([]string{"verify"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, code, stderr)
		}
	}
}

// tune ends with the command that verifies its line, which is one that verify takes.
func TestTuneSaysHowToVerify(t *testing.T) {
	path := steady(t, 2000)
	_, out, _ := command("tune", path)
	words := strings.Fields(out[strings.LastIndex(out, "bufslab verify"):])
	if len(words) != 5 || words[3] != "stats.json" || words[4] != path {
		t.Fatal(words)
	}
	line := strings.Trim(words[2], `"`)
	if code, _, stderr := command("verify", line, statsFile(t, slab.Stats{PeakManagedBytes: 1}), path); code != exitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// The command that tune ends with is one for a shell, whatever the file and the pool are called.
func TestTuneQuotesForAShell(t *testing.T) {
	for _, c := range []struct{ system, text, want string }{
		{"linux", "/tmp/t-1.csv.gz", "/tmp/t-1.csv.gz"},
		{"linux", "a b.csv", `"a b.csv"`},
		{"linux", "it's.csv", `"it's.csv"`},
		{"linux", "it's $1.csv", `'it'\''s $1.csv'`},
		{"linux", `a\b.csv`, `'a\b.csv'`},
		{"windows", `C:\t.csv`, `C:\t.csv`},
		{"windows", `C:\my $\t.csv`, `"C:\my $\t.csv"`},
	} {
		if got := shellWord(c.text, c.system); got != c.want {
			t.Errorf("%s: %s on %s, want %s", c.text, got, c.system, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "my trace.csv")
	check.Must(t, os.WriteFile(path, []byte(small), 0o666))
	if _, out, _ := command("tune", "-config", "name=$1", path); !strings.Contains(out, `stats.json "`+path+`"`) ||
		!strings.Contains(out, "$1") || runtime.GOOS != "windows" && !strings.Contains(out, "verify 'name=$1") {
		t.Error(out)
	}
}

// A program that asks often has its large blocks in its caches, where they serve one size alone. A replay knows by the
// times of the recording that it does: without them it takes the program for one that touches all bytes, and promises
// far less.
func TestAQuickProgramKeepsItsPromise(t *testing.T) {
	if raceEnabled {
		t.Skip("What is promised is for a program without the race detector, which makes it slow.")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	path := filepath.Join(t.TempDir(), "t.csv")
	p := slab.MustOpen("record=" + path)
	for _, size := range []int{2 << 20, 3 << 19, 5 << 18} {
		for range 500 {
			var out []slab.PooledBuffer
			for range 16 {
				out = append(out, check.Ok(p.Get(size))(t))
			}
			for _, b := range out {
				check.Must(t, b.Release())
			}
		}
	}
	s := p.Stats()
	check.Must(t, p.Close())
	text := check.Ok(os.ReadFile(path))(t)
	code, out, stderr := command("verify", "idle=10s", statsFile(t, s), path)
	if code != exitOK || strings.Contains(out, "device=virtual") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	var timeless strings.Builder // the control
	for row := range strings.Lines(string(text)) {
		timeless.WriteString(row[:strings.LastIndexByte(row, ',')] + "\n")
	}
	if code, out, stderr := command("verify", "device=heap", statsFile(t, s), file(t, timeless.String())); code != exitFailed {
		t.Errorf("without times: exit %d: %s%s", code, out, stderr)
	}
}

// A pool that plays the program of its recording keeps what the replay promises, and Stats has the footprint of it. There
// are no caches: what these keep also depends on when a goroutine moves. Programs of bench try that.
func TestAPoolKeepsItsPromise(t *testing.T) {
	if raceEnabled {
		t.Skip("What is promised is for a program without the race detector, which makes it slow.")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, line := range []string{"device=heap,cache_bytes=0", "device=mmap,cache_bytes=0"} {
		path := filepath.Join(t.TempDir(), "t.csv")
		p := slab.MustOpen(line + ",record=" + path)
		var out []slab.PooledBuffer
		for i := range 3000 {
			b := check.Ok(p.Get(1000 + 7919*i%100_000))(t)
			if i%3 == 0 {
				b = check.Ok(b.Grow(2 * b.Len()))(t)
			}
			if out = append(out, b); len(out) > 50 {
				check.Must(t, out[0].Release())
				out = out[1:]
			}
		}
		for _, b := range out {
			check.Must(t, b.Release())
		}
		s := p.Stats()
		check.Must(t, p.Close())
		if code, text, stderr := command("verify", "-most", "1.02", line, statsFile(t, s), path); code != exitOK {
			t.Errorf("%s: exit %d: %s%s", line, code, text, stderr)
		}
	}
}
