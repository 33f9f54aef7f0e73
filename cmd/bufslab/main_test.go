package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// command runs the command line and returns all that it does.
func command(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

// file writes a trace and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const small = "op,id,size\na,0,1000\na,1,2000\nf,0,1000\na,2,1000\nf,1,2000\nf,2,1000\n"

func TestReplayPrintsATable(t *testing.T) {
	code, out, stderr := command("replay", "-config", "strategy=direct", "-config", "device=virtual:1MiB,strategy=exact", file(t, small))
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	// The last column is a time, and the sentence below the table has a test of its own.
	out, _, _ = strings.Cut(out, "No line kept ")
	out = regexp.MustCompile(`(?m) +\d+ \|$`).ReplaceAllString(out, " # |")
	out = regexp.MustCompile(`(?m)-+\+$`).ReplaceAllString(out, "+")
	out = regexp.MustCompile(`(?m) +ns/op \|$`).ReplaceAllString(out, " ns/op |")
	const want = `
+-------+------------------------------------+--------+-----------+--------------+-----------+----------+--------+--------++
| trace | config                             | allocs | peak live | peak managed | footprint | upstream | miss % | leaked | ns/op |
+-------+------------------------------------+--------+-----------+--------------+-----------+----------+--------+--------++
| small | strategy=direct                    |      3 |   2.9 KiB |      2.9 KiB |     1.000 |        3 | 100.00 |    0 B | # |
| small | device=virtual:1MiB,strategy=exact |      3 |   2.9 KiB |      2.9 KiB |     1.000 |        2 |  66.67 |    0 B | # |
+-------+------------------------------------+--------+-----------+--------------+-----------+----------+--------+--------++
`
	if out != want[1:] {
		t.Errorf("got\n%s\nwant%s", out, want)
	}
}

func TestReplayWarnsOfATraceThatWasCutShort(t *testing.T) {
	path := file(t, small+"a,3,10")
	code, out, stderr := command("replay", "-config", "strategy=direct", path)
	if code != exitOK || !strings.Contains(out, "| small |") || stderr != "bufslab: warning: trace: "+path+":8: the row has no newline and was dropped: the file was cut short\n" {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

func TestReplayPrintsJSON(t *testing.T) {
	path := file(t, small)
	code, out, stderr := command("replay", "-json", "-config", "strategy=direct", path)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	out = regexp.MustCompile(`"ns_per_op":[0-9.e+]+`).ReplaceAllString(out, `"ns_per_op":0`)
	want := `{"trace":"small","config":"strategy=direct","allocs":3,"frees":3,"grows":0,"processors":1,"peak_live_bytes":3000,` +
		`"peak_managed_bytes":3000,"footprint_ratio":1,"upstream_allocs":3,"upstream_frees":3,"uncached_allocs":3,"miss_ratio":1,` +
		`"ns_per_op":0,"end_active_bytes":0,"end_held_bytes":0,"end_upstream_bytes":0}` + "\n"
	if out != want {
		t.Errorf("got  %swant %s", out, want)
	}
}

func TestReplayWithoutArgumentsTakesTheShippedTraceAndEveryStrategy(t *testing.T) {
	code, out, stderr := command("replay", "-json")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, strategy := range slab.Strategies() {
		if !strings.Contains(out, `"trace":"arrow-csv","config":"device=virtual,strategy=`+strategy+`","allocs":126156,`) {
			t.Errorf("no line for strategy %s in\n%s", strategy, out)
		}
	}
	if n := strings.Count(out, "\n"); n != len(slab.Strategies())+1 { // slab has two
		t.Errorf("%d lines", n)
	}
}

func TestReplayRunsEveryTraceOnEveryConfig(t *testing.T) {
	_, out, _ := command("replay", "-json", "-config", "strategy=direct", "-config", `{"strategy":"exact"}`, file(t, small), file(t, small))
	if n := strings.Count(out, "\n"); n != 4 || strings.Count(out, `"config":"{\"strategy\":\"exact\"}"`) != 2 {
		t.Errorf("%d lines:\n%s", n, out)
	}
}

// Options may follow the files, but not behind --: there a file may be called as an option.
func TestOptionsMayFollowTheFiles(t *testing.T) {
	path := file(t, small)
	t.Chdir(t.TempDir())
	check.Must(t, os.WriteFile("-json", []byte(small), 0o666))
	for _, c := range []struct {
		lines int
		args  []string
	}{
		{1, []string{"replay", path, "-config", "strategy=direct", "-json"}},
		{2, []string{"replay", path, "-json", "-config", "strategy=direct", path}},
		{3, []string{"replay", "-config", "strategy=direct", "-json", "--", path, path, "-json"}},
		{1, []string{"replay", "-config", "strategy=direct", "-json", "--", "-json"}},
	} {
		if code, out, stderr := command(c.args...); code != exitOK || strings.Count(out, "\n") != c.lines {
			t.Errorf("%q: exit %d\n%s%s", c.args, code, out, stderr)
		}
	}
	if code, out, stderr := command("tune", path, "-json"); code != exitOK || !strings.HasPrefix(out, "{") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	for _, name := range []string{"replay", "tune"} {
		if code, out, stderr := command(name, path, "-nope"); code != exitBad || out != "" || !strings.Contains(stderr, "-nope") {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, stderr)
		}
	}
}

// noTimes finds what no two replays have in common.
var noTimes = regexp.MustCompile(`"ns_per_op":[0-9.e+]+`)

const keyedSmall = "op,key,size\ng,a,1000\ng,b,600\ng,a,1200\ng,a,100\n"

func TestReplayOfAKeyedTracePrintsATable(t *testing.T) {
	code, out, stderr := command("replay", "-growth", "exact", "-growth", "pow2", file(t, keyedSmall))
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		`\| trace \| config +\| growth \| requests \| keys \| misses \| grows \| hit % \|  held \| transient peak \| +ns/op \|`,
		`\| small \| device=virtual,strategy=direct \| exact  \|        4 \|    2 \|      2 \|     1 \| 25.00 \| 1.000 \|          1.000 \| +\d+ \|`,
		`\| small \| device=virtual,strategy=direct \| pow2   \|        4 \|    2 \|      2 \|     1 \| 25.00 \| 1.707 \|          1.707 \| +\d+ \|`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

func TestReplayOfAKeyedTracePrintsJSON(t *testing.T) {
	path := file(t, keyedSmall)
	code, out, stderr := command("replay", "-json", "-growth", "factor=2", "-config", "strategy=exact", path)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	out = regexp.MustCompile(`"ns_per_op":[0-9.e+]+`).ReplaceAllString(out, `"ns_per_op":0`)
	want := `{"trace":"small","config":"strategy=exact","growth":"factor=2","requests":4,"keys":2,"hits":1,"misses":2,"grows":1,` +
		`"hit_ratio":0.25,"largest_bytes":1800,"held_bytes":2600,"held_ratio":1.4444444444444444,` +
		`"transient_peak_bytes":2600,"transient_peak_ratio":1.4444444444444444,"ns_per_op":0,"end_held_bytes":0,"end_active_bytes":0}` + "\n"
	if out != want {
		t.Errorf("got  %swant %s", out, want)
	}
}

// A budget that is too small for all keys is kept, and costs hits.
func TestReplayWithinABudget(t *testing.T) {
	_, out, _ := command("replay", "-json", "-growth", "exact", "-budget", "1500", file(t, keyedSmall))
	var r keyedRow
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.PeakBytes > 1500 || r.Hits+r.Misses+r.Grows != 4 || r.HeldBytes > 1500 {
		t.Errorf("%v in %s", err, out)
	}
}

// Tables of both kinds stand one below the other.
func TestReplayOfBothKinds(t *testing.T) {
	_, out, _ := command("replay", "-config", "strategy=direct", "-growth", "exact", file(t, keyedSmall), file(t, small))
	if strings.Count(out, "| trace ") != 2 || strings.Index(out, "allocs") > strings.Index(out, "growth") {
		t.Error(out)
	}
}

// TestExitCodes has a command line, its exit code and a word of what it says on stderr.
func TestExitCodes(t *testing.T) {
	good, absent := file(t, small), filepath.Join(t.TempDir(), "absent")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitOK, "", []string{"replay", "-config", "strategy=slab", good}},
		{exitOK, "", []string{"devices"}},
		{exitFailed, "op 2 of 6", []string{"replay", "-config", "device=virtual:2000,strategy=direct", good}},
		{exitFailed, "out of memory", []string{"replay", "-json", "-config", "max_bytes=2000", good}},
		{exitOK, "", []string{"replay", "-config", "strategy=direct", file(t, "a,0,1000\n")}},
		{exitInput, "small.csv:2: malformed row", []string{"replay", file(t, "op,id,size\na,0\n")}},
		{exitInput, "small.csv:2: id 1 freed: unknown id", []string{"replay", file(t, "op,id,size\nf,1,10\n")}},
		{exitInput, "small.csv:3: id 1: freed twice", []string{"replay", file(t, "a,1,10\nf,1,10\nf,1,10\n")}},
		{exitInput, "small.csv:3: op g, a request to growpool", []string{"replay", file(t, "op,id,size,key\na,1,8,\ng,,8,k\n")}},
		{exitInput, check.Err(os.Open(absent)).Error(), []string{"replay", absent}},
		{exitInput, "small.csv:1: malformed row: no whole row", []string{"replay", file(t, "")}},
		{exitInput, "small.csv: there is no operation in it", []string{"replay", file(t, "op,id,size\n")}},
		{exitBad, "unknown key; known are device, strategy", []string{"replay", "-config", "stratgy=slab", good}},
		{exitBad, "strategy slab has no use for it", []string{"replay", "-config", "steps=4", good}},
		{exitBad, "no scheme", []string{"replay", "-config", "device=tape", good}},
		{exitBad, "-jsn", []string{"replay", "-jsn", good}},
		{exitBad, "want 1 to 1024", []string{"replay", "-procs", "0", good}},
		{exitBad, "-procs is for traces of allocations", []string{"replay", "-procs", "2", file(t, keyedSmall)}},
		{exitOK, "", []string{"replay", "-procs", "2", "-config", "strategy=slab", good, file(t, keyedSmall)}},
		{exitOK, "", []string{"replay", "-growth", "steps=8", "-budget", "1MiB", file(t, keyedSmall)}},
		{exitFailed, "op 1 of 4", []string{"replay", "-growth", "exact", "-budget", "900", file(t, keyedSmall)}},
		{exitBad, "there is none", []string{"replay", "-growth", "exact", good}},
		{exitBad, "growth \"double\"", []string{"replay", "-growth", "double", "-budget", "10", file(t, keyedSmall)}},
		{exitBad, "-budget \"much\"", []string{"replay", "-growth", "double", "-budget", "much", file(t, keyedSmall)}},
		{exitBad, "-budget", []string{"replay", "-growth", "pow2", "-budget", "", file(t, keyedSmall)}},
		{exitBad, "wants one -config", []string{"replay", "-"}},
		{exitBad, "wants one -config", []string{"replay", "-config", "strategy=slab", "-", good}},
		{exitBad, "wants one -config", []string{"replay", "-config", "strategy=slab", "-growth", "pow2", "-"}},
		{exitBad, "devices takes no arguments", []string{"devices", "heap"}},
		{exitBad, "takes no arguments", []string{"devices", "-json", "heap"}},
		{exitBad, "takes no arguments", []string{"version", "1"}},
		{exitBad, "-x", []string{"devices", "-x"}},
		{exitBad, "bufslab version ", []string{}},
		{exitBad, `no command "tune-up"`, []string{"tune-up"}},
		{exitBad, `no command "tune-up"`, []string{"help", "tune-up"}},
	} {
		code, _, stderr := command(c.args...)
		if code != c.code || !strings.Contains(stderr, c.says) || c.says == "" && stderr != "" {
			t.Errorf("%q: exit %d, %q; want %d, %q", c.args, code, stderr, c.code, c.says)
		}
	}
}

// A line that would record over its own TRACE is refused, as is a page of report in the place of any recording, and
// TRACE is as it was.
// tune and report replay more than once, so they take no line that writes a file at all.
func TestNoReplayOverwritesItsTrace(t *testing.T) {
	path := file(t, small)
	link := filepath.Join(t.TempDir(), "link.csv")
	check.Symlink(t, path, link)
	stdin := check.Ok(os.Open(path))(t)
	defer stdin.Close()
	defer func(f *os.File) { os.Stdin = f }(os.Stdin)
	os.Stdin = stdin
	for _, args := range [][]string{
		{"replay", "-config", "strategy=slab,record=" + path, "-"},
		{"replay", "-config", "strategy=slab,record=" + path, path},
		{"replay", "-config", "strategy=slab", "-config", "record=" + link, path},
		{"report", "-o", filepath.Join(t.TempDir(), "page.html"), "-config", "record=" + path, link},
		{"report", "-o", path, path},
		{"report", "-o", link, path},
		{"report", "-o", path},
		{"report", "-o", link, file(t, small)},
		{"report", path, "-o", filepath.Dir(path) + "/./" + filepath.Base(path)},
		{"tune", "-config", "record=" + path, path},
		{"tune", "-config", "record=" + path + ".other", path},
		{"tune", "-config", `{"record":` + strconv.Quote(path) + `}`, path},
		{"tune", "-config", "strategy=slab,reserve=learned:" + path + ".peak", path},
	} {
		code, out, stderr := command(args...)
		stderr = strings.ReplaceAll(stderr, `\\`, `\`) // a quoted path of Windows
		now := string(check.Ok(os.ReadFile(path))(t))
		left := check.Ok(os.ReadDir(filepath.Dir(path)))(t)
		if code != exitBad || out != "" || !strings.Contains(stderr, path) && !strings.Contains(stderr, link) || now != small || len(left) != 1 {
			t.Errorf("%q: exit %d, %v, %q\n%s", args, code, left, now, stderr)
		}
	}
	if code, _, stderr := command("replay", "-config", "strategy=slab,record="+path+".again", path); code != exitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestEveryWrongConfigIsNamedBeforeAnythingRuns(t *testing.T) {
	code, out, stderr := command("replay", "-config", "bits=99", "-config", "strategy=direct", "-config", "zero=x", file(t, small))
	if code != exitBad || out != "" || !strings.Contains(stderr, "bits=99") || !strings.Contains(stderr, "zero=x") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
}

func TestAFailureLeavesTheOtherRows(t *testing.T) {
	code, out, _ := command("replay", "-json", "-config", "device=virtual:2000,strategy=direct", "-config", "strategy=direct", file(t, small))
	if code != exitFailed || strings.Count(out, "\n") != 1 {
		t.Errorf("exit %d\n%s", code, out)
	}
}

func TestHelpIsNoMistake(t *testing.T) {
	for args, want := range map[string]string{
		"help": "bufslab replay", "-help": "bufslab devices", "replay -help": "peak managed", "devices -h": "schemes",
		"help replay": "zcat", "help version": "commit",
	} {
		code, out, stderr := command(strings.Fields(args)...)
		if code != exitOK || !strings.Contains(out, want) || stderr != "" {
			t.Errorf("%s: exit %d\n%s%s", args, code, out, stderr)
		}
	}
}

func TestDevicesListsSchemes(t *testing.T) {
	_, out, _ := command("devices")
	out = strings.Join(strings.Fields(out), " ") // columns are as wide as what is built in
	for _, want := range []string{"| heap |", "| mmap |", "| sim | 1.0 GiB | 1.0 GiB |", "| virtual | no limit | no limit |"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestDevicesAsJSON(t *testing.T) {
	_, out, _ := command("devices", "-json")
	rows := map[string]place{}
	for line := range strings.Lines(out) {
		var p place
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		rows[p.Name] = p
	}
	if v, ok := rows["virtual"]; !ok || v.Free != nil || v.Total != nil {
		t.Errorf("virtual: %+v", v)
	}
	if s := rows["sim"]; s.Free == nil || *s.Free != 1<<30 || s.Total == nil || *s.Total != 1<<30 {
		t.Errorf("sim: %+v", s)
	}
}

// A line or JSON that names no device is tried on virtual, however it is written: what its other
// keys may be depends on that.
func TestConfigsWithoutADevice(t *testing.T) {
	for text, want := range map[string]string{
		"strategy=slab":                       "virtual",
		"strategy=slab, device=heap":          "heap",
		" device=heap,strategy=slab":          "heap",
		`{"zero":true}`:                       "virtual",
		`{}`:                                  "virtual",
		`{ "strategy":"slab" }`:               "virtual",
		`{"strategy":"slab","device":"mmap"}`: "mmap",
	} {
		if c, err := configOf(text); err != nil || c.Device != want {
			t.Errorf("%s: on %q, %v", text, c.Device, err)
		}
	}
	for _, text := range []string{"{", `{"x":1}`, "device"} {
		if c, err := configOf(text); err == nil {
			t.Errorf("%s: %v", text, c)
		}
	}
}

// broken is an output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("pipe is closed") }

func TestOutputThatFailsIsAFailure(t *testing.T) {
	stats := statsFile(t, map[string]int64{"peak_managed_bytes": 1})
	for _, args := range [][]string{{"help"}, {"help", "replay"}, {"devices"}, {"version"},
		{"replay", "-config", "strategy=direct", file(t, small)}, {"report", "-o", t.TempDir() + "/page.html", file(t, small)},
		{"tune", file(t, small)}, {"verify", "strategy=direct", stats, file(t, small)},
		{"verify", "-json", "strategy=direct", stats, file(t, small)},
		{"replay", "-json", "-config", "strategy=direct", file(t, small)}} {
		var stderr bytes.Buffer
		if code := run(args, broken{}, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "pipe is closed") {
			t.Errorf("%q: exit %d, %s", args, code, &stderr)
		}
	}
}
