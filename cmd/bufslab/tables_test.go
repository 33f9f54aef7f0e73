package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/dustin/go-humanize"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/trace"
)

// go test ./cmd/bufslab -run Tables -update writes what the documents have to say.
var update = flag.Bool("update", false, "rewrite the tables of docs/choosing.md and docs/replays.md")

// document compares a file with what change makes of it, or rewrites it.
func document(t *testing.T, path string, change func(text string) string) {
	t.Helper()
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []byte(change(string(was)))
	if bytes.Equal(was, want) {
		return
	}
	if *update {
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	old := strings.Split(string(was), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(old) || line != old[i] {
			t.Errorf("%s:%d: a replay gives\n%s", path, i+1, line)
		}
	}
}

// docs/choosing.md has the figures of the shipped trace.
func TestTheTableOfStrategies(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("the tables are of 64-bit machines")
	}
	rec, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	document(t, "../../docs/choosing.md", func(text string) string {
		for _, line := range plainLines() {
			r := replayLine(t, rec, line)
			name := regexp.QuoteMeta(strings.ReplaceAll(strings.TrimPrefix(line, "device=virtual,strategy="), ",", ", "))
			figures := regexp.MustCompile(`(?m)^(\| ` + name + ` \| .* \|) [0-9.]+ \| [0-9.]+ % \|$`)
			if !figures.MatchString(text) {
				t.Errorf("there is no row of %s", line)
			}
			text = figures.ReplaceAllString(text, fmt.Sprintf("$1 %.3f | %.2f %% |", r.FootprintRatio, 100*r.MissRatio))
		}
		return text
	})
}

// tableLines are the columns of docs/replays.md, as lines.
var tableLines = []string{"strategy=direct", "strategy=exact", "strategy=bitlog", "strategy=sizeclass", "strategy=bestfit", "strategy=slab",
	"strategy=slab,cache_bytes=0", "device=virtual:fixed,strategy=slab,cache_bytes=0", "device=mmap,strategy=slab"}

var tableGrowths = []string{"exact", "pow2", "factor=1.5", "steps=8", "steps=16"}

// docs/replays.md has the figures of the recordings that stand beside the checkout.
func TestTablesOfTheRecordings(t *testing.T) {
	if raceEnabled || os.Getenv("BUFSLAB_STRESS") == "" && !*update {
		t.Skip("eight million allocations take ten seconds, and minutes by the race detector: set BUFSLAB_STRESS, without -race")
	}
	if os.Getpagesize() != 4096 || math.MaxInt == math.MaxInt32 {
		t.Skip("the tables are of 64-bit machines with pages of 4 KiB")
	}
	dir := check.SharedDir(t)
	document(t, "../../docs/replays.md", func(text string) string {
		text = between(t, text, "replays", plainTable(t, recordings(t, filepath.Join(dir, "traces"))))
		return between(t, text, "keyed", keyedTable(t, recordings(t, filepath.Join(dir, "keyed"))))
	})
}

// between puts a table between the two comments that name it.
func between(t *testing.T, text, name, table string) string {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	head, rest, found := strings.Cut(text, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("there is no %q before a %q", begin, end)
	}
	return head + begin + table + end + tail
}

func recordings(t *testing.T, dir string) (all []*trace.Trace) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, "*.csv.gz"))
	for _, path := range paths {
		rec, err := trace.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	if len(all) == 0 {
		t.Fatalf("there is no recording in %s", dir)
	}
	return all
}

func replayLine(t *testing.T, rec *trace.Trace, line string) trace.Result {
	t.Helper()
	setups, err := setupsOf([]string{line}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replayOne(rec, "", setups[0], trace.Replayer{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Result
}

// withinBudget reports whether at most 1 % are misses, or 8 calls under 1,000 allocations.
func withinBudget(r trace.Result) bool {
	return r.MissRatio <= missBudget || r.Allocs < 1000 && r.UpstreamAllocs <= fewCalls
}

// plainTable replays columns beside each other: that changes nothing.
func plainTable(t *testing.T, recs []*trace.Trace) string {
	results := make([][]trace.Result, len(recs))
	var all sync.WaitGroup
	for i := range recs {
		results[i] = make([]trace.Result, len(tableLines))
	}
	for k := range tableLines {
		all.Go(func() {
			for i, rec := range recs {
				results[i][k] = replayLine(t, rec, tableLines[k])
			}
		})
	}
	all.Wait()
	var b strings.Builder
	b.WriteString("| trace | allocs | direct | exact | bitlog | sizeclass | bestfit | slab | slab, no caches | fixed, slab, no caches | mmap, slab |\n")
	b.WriteString("|---|" + strings.Repeat("--:|", len(tableLines)+1) + "\n")
	logs, within := make([]float64, len(tableLines)), make([]int, len(tableLines))
	for i, rec := range recs {
		fmt.Fprintf(&b, "| %s | %s |", shortName(rec.Name), humanize.Comma(int64(rec.Allocs)))
		for k, r := range results[i] {
			fmt.Fprintf(&b, " %.2f (%s%%) |", r.FootprintRatio, percent(r.MissRatio))
			logs[k] += math.Log(r.FootprintRatio)
			if withinBudget(r) {
				within[k]++
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("| **geometric mean** | |")
	for _, sum := range logs {
		fmt.Fprintf(&b, " **%.3f** |", math.Exp(sum/float64(len(recs))))
	}
	b.WriteString("\n| traces within 1 % (8 calls under 1,000 allocs) | |")
	for _, n := range within {
		fmt.Fprintf(&b, " %d |", n)
	}
	return b.String() + "\n"
}

// percent has two digits.
func percent(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f", 100*share)
	}
	return fmt.Sprintf("%.2g", 100*share)
}

func keyedTable(t *testing.T, recs []*trace.Trace) string {
	setups, _ := setupsOf([]string{"device=virtual,strategy=direct"}, nil)
	pools, err := keyedFlags{growths: tableGrowths}.pools()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| trace | requests | keys | growth | misses | grows | hit % | held | transient peak |\n|---|--:|--:|---|--:|--:|--:|--:|--:|\n")
	for _, rec := range recs {
		for _, pool := range pools {
			r, err := replayKeyed(rec, setups[0], pool)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %d | %d | %.2f | %.3f | %.3f |\n", shortName(rec.Name), humanize.Comma(r.Requests), r.Keys,
				r.Growth, r.Misses, r.Grows, 100*r.HitRatio, r.HeldRatio, r.PeakRatio)
		}
	}
	return b.String()
}
