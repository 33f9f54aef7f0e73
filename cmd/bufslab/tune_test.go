package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// steady writes a trace of a program that soon has all that it ever has at a time, and
// returns its path. A reserve saves it the steps in which a heap grows.
func steady(t *testing.T, allocs int) string {
	var text strings.Builder
	text.WriteString("op,id,size\n")
	r := rand.New(rand.NewPCG(1, 2))
	sizes := make([]int, allocs)
	for i := range allocs {
		if i >= 60 {
			fmt.Fprintf(&text, "f,%d,%d\n", i-60, sizes[i-60])
		}
		sizes[i] = 1 << (10 + r.IntN(8))
		fmt.Fprintf(&text, "a,%d,%d\n", i, sizes[i])
	}
	return file(t, text.String())
}

// tuned runs tune with JSON, and returns the scores by line, and the last object.
func tuned(t *testing.T, args ...string) (scores map[string]score, found struct {
	Chosen, Unseen score
	Defaults       score `json:"unseen_defaults"`
	Replays        int
}) {
	t.Helper()
	code, out, stderr := command(append([]string{"tune", "-json"}, args...)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	scores = map[string]score{}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, line := range lines[:len(lines)-1] {
		var s score
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		scores[s.Config] = s
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &found); err != nil {
		t.Fatal(err)
	}
	return scores, found
}

// The chosen line costs less than all others that were tried and keep what they promise on the other half. It is
// the same each time, and what it prints of the other half is what a replay of that gives.
func TestTuneChoosesWhatCostsLeast(t *testing.T) {
	path := steady(t, 4000)
	scores, found := tuned(t, path)
	whole, err := trace.Load(path)
	check.Must(t, err)
	both := newTuner(tuneOptions{objective: objective{misses: missBudget, ns: 50}}, []*trace.Trace{whole}, io.Discard)
	for line, s := range scores {
		if !s.Within || s.Cost >= found.Chosen.Cost*0.999 {
			continue
		}
		c, _ := configOf(line)
		u, err := both.judge(line, c, both.unseen)
		check.Must(t, err)
		if u.holds(found.Defaults, true) && s.Cost*u.Cost < found.Chosen.Cost*found.Unseen.Cost*(1-worthwhile) {
			t.Errorf("%q costs %.4f and %.4f, the chosen %q %.4f and %.4f", line, s.Cost, u.Cost, found.Chosen.Config, found.Chosen.Cost, found.Unseen.Cost)
		}
	}
	if len(scores) < 8 || found.Replays < len(scores)+2 {
		t.Errorf("%d lines in %d replays", len(scores), found.Replays)
	}
	if found.Chosen.Cost > scores[""].Cost*(1-enough) || found.Unseen.Footprint >= found.Defaults.Footprint {
		t.Errorf("%q gains nothing: %+v", found.Chosen.Config, found)
	}
	_, second := whole.Halves()
	c, _ := configOf(found.Chosen.Config)
	p, err := slab.OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := trace.Replay(second, p); err != nil || math.Abs(r.FootprintRatio-found.Unseen.Footprint) > 1e-9 {
		t.Errorf("footprint %v of the other half, %v told; %v", r.FootprintRatio, found.Unseen.Footprint, err)
	}
	if _, again := tuned(t, path); again.Chosen != found.Chosen {
		t.Errorf("%q now, %q before", again.Chosen.Config, found.Chosen.Config)
	}
}

// Options of the base line stay, and what the strategy cannot use is left out.
func TestTuneKeepsTheBase(t *testing.T) {
	scores, _ := tuned(t, "-config", "device=virtual,strategy=sizeclass,max_bytes=4GiB", steady(t, 1000))
	for line := range scores {
		if !strings.HasPrefix(line, "device=virtual,strategy=sizeclass,max_bytes=4GiB") || strings.Contains(line, "miss_target") {
			t.Errorf("%q", line)
		}
	}
	if len(scores) < 4 {
		t.Errorf("%d lines", len(scores))
	}
}

// A base that is JSON is tuned as the line that says the same.
func TestTuneOfJSON(t *testing.T) {
	path := steady(t, 1000)
	line, _ := tuned(t, "-config", "device=virtual,strategy=slab", path)
	object, _ := tuned(t, "-config", `{"device":"virtual","strategy":"slab"}`, path)
	if len(line) < 4 || !maps.Equal(line, object) {
		t.Errorf("%d lines of a line, %d of JSON", len(line), len(object))
	}
	code, _, stderr := command("tune", "-config", `{"name":" x"}`, path)
	if code != exitBad || !strings.Contains(stderr, "no line says this") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// Lines for which there is no room are left out: others may fit, on the half that the search
// sees, and on the other.
func TestTuneLeavesOutWhatDoesNotFit(t *testing.T) {
	path := steady(t, 1000)
	whole, err := trace.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	first, second := whole.Halves()
	for _, room := range []int64{first.PeakLiveBytes, second.PeakLiveBytes} {
		base := fmt.Sprintf("device=virtual,strategy=bestfit,cache_bytes=0,max_bytes=%d", room+room/4)
		scores, found := tuned(t, "-config", base, path)
		if len(scores) == 0 || found.Chosen.Config == "" {
			t.Errorf("%d lines fit, and %q is chosen", len(scores), found.Chosen.Config)
		}
	}
	s := search{score: func(line string, _ slab.Config) (score, error) {
		if line != "" {
			return score{}, fmt.Errorf("%s: %w", line, device.ErrOutOfMemory)
		}
		return score{Config: line, Cost: 1, Within: true}, nil
	}}
	if _, best, err := s.run(); err != nil || best.Config != "" {
		t.Errorf("%q, %v, where nothing but the defaults fits", best.Config, err)
	}
}

// Steps are no allocations: the records of a pool are as many with them.
func TestBooksOfSteps(t *testing.T) {
	var with, without strings.Builder
	for i := range 100 {
		fmt.Fprintf(&without, "a,%d,100000\nf,%d,\n", i, i)
		fmt.Fprintf(&with, "s,,\na,%d,100000\nf,%d,\n", i, i)
	}
	var crowds []crowd
	for _, text := range []string{with.String(), without.String()} {
		whole, err := trace.Read(strings.NewReader(text), "t.csv")
		if err != nil {
			t.Fatal(err)
		}
		crowds = append(crowds, crowdOf(whole))
	}
	if crowds[0] != crowds[1] || crowds[0] != (crowd{1, 1, 1, 1}) {
		t.Errorf("%+v with steps, %+v without", crowds[0], crowds[1])
	}
}

// A line without a strategy has the books of the one that its device has.
func TestBooksOfTheDefaults(t *testing.T) {
	k := crowd{all: 100, above256: 50, above32K: 7, used: 3}
	for device, strategy := range map[string]string{"heap": "sizeclass", "mmap": "slab", "virtual": "slab"} {
		defaults, err := configOf("device=" + device)
		named, errNamed := configOf("device=" + device + ",strategy=" + strategy)
		if got, want := k.books(defaults), k.books(named); err != nil || errNamed != nil || got != want {
			t.Errorf("%s: %d bytes, with %s %d", device, got, strategy, want)
		}
	}
}

// An option that saves less than it is worth to remember is not chosen, however many there are.
func TestAnOptionHasToSaveSomething(t *testing.T) {
	for _, c := range []struct {
		saves float64
		want  string
	}{{worthwhile / 2, ""}, {worthwhile * 2, "strategy=bestfit"}} {
		s := search{score: func(line string, _ slab.Config) (score, error) {
			cost := 1.0
			if line == "strategy=bestfit" {
				cost -= c.saves
			}
			return score{Config: line, Cost: cost, Within: true}, nil
		}}
		if _, best, err := s.run(); err != nil || best.Config != c.want {
			t.Errorf("%q saves %v: %v", best.Config, c.saves, err)
		}
	}
}

// The fewer nanoseconds a hundredth of the memory is worth, the less a pair takes.
func TestTimeHasAPrice(t *testing.T) {
	path := steady(t, 4000)
	_, cheap := tuned(t, "-ns", "1000000", path)
	_, dear := tuned(t, "-ns", "0.01", path)
	if cheap.Chosen.PairNS <= dear.Chosen.PairNS || cheap.Chosen.memory() >= dear.Chosen.memory() {
		t.Errorf("%+v\n%+v", cheap.Chosen, dear.Chosen)
	}
}

// A line has to keep to the budget of misses before anything else counts.
func TestTheBudgetComesFirst(t *testing.T) {
	a, b := score{Within: true, Cost: 3}, score{Cost: 1, over: 2}
	if !a.better(b) || b.better(a) || !(score{over: 1}).better(b) || !(score{Within: true, Cost: 2}).better(a) {
		t.Error("cost before budget")
	}
	o := objective{misses: 0.01, ns: 50}
	for _, c := range []struct {
		allocs, calls int64
		within        bool
	}{{1000, 8, true}, {1000, 9, false}, {10_000, 80, true}, {10_000, 81, false}, {100, 8, true}} {
		r := trace.Result{Allocs: c.allocs, UpstreamAllocs: c.calls, MissRatio: float64(c.calls) / float64(c.allocs), PeakLiveBytes: 1, FootprintRatio: 1}
		if s := o.mean("", []trace.Result{r}, []int64{0}); s.Within != c.within {
			t.Errorf("%d calls in %d allocations: within the budget %v", c.calls, c.allocs, s.Within)
		}
	}
}

// Cost is as the help has it.
func TestCostIsAsDocumented(t *testing.T) {
	o := objective{misses: 0.01, ns: 50}
	r := trace.Result{Allocs: 1000, UpstreamAllocs: 10, UncachedAllocs: 500, MissRatio: 0.01, PeakLiveBytes: 1000, FootprintRatio: 1.2}
	s := o.mean("x", []trace.Result{r}, []int64{100})
	if ns := 20 + 50 + 30.0; s.PairNS != ns || math.Abs(s.Cost-(1.2+0.1)*(1+ns/5000)) > 1e-9 || s.MissRatio != 0.01 {
		t.Errorf("%+v", s)
	}
}

// The defaults are kept unless a line costs enough less, or keeps a budget that they do not.
func TestDefaultsAreKept(t *testing.T) {
	defaults := score{Within: true, Cost: 1}
	for _, c := range []struct {
		best score
		want bool
	}{{score{Within: true, Cost: 0.99}, false}, {score{Within: true, Cost: 0.97}, true}, {score{Cost: 0.5}, false}} {
		if got := choose(defaults, c.best) == c.best; got != c.want {
			t.Errorf("%+v is chosen: %v", c.best, got)
		}
	}
	if best := (score{Within: true, Cost: 1.5}); choose(score{Cost: 1, over: 3}, best) != best {
		t.Error("defaults beyond the budget are kept")
	}
}

// The front has what nothing beats in memory and in time, and nothing beyond the budget.
func TestFront(t *testing.T) {
	s := search{tried: []score{
		{Config: "small", Footprint: 1, PairNS: 100, Within: true},
		{Config: "fast", Footprint: 1.3, PairNS: 20, Within: true},
		{Config: "beaten", Footprint: 1.3, PairNS: 30, Within: true},
		{Config: "beyond", Footprint: 0.9, PairNS: 10},
		{Config: "twin", Footprint: 1, PairNS: 100, Within: true},
	}}
	var names []string
	for _, f := range s.front() {
		names = append(names, f.Config)
	}
	if !slices.Equal(names, []string{"small", "fast"}) {
		t.Errorf("%v", names)
	}
}

// A search that is late says so, and still has judged the defaults.
func TestTuneStopsInTime(t *testing.T) {
	scored := 0
	s := search{until: time.Now().Add(-time.Second), score: func(line string, c slab.Config) (score, error) {
		scored++
		return score{Config: line, Within: true, Cost: 1}, nil
	}}
	defaults, best, err := s.run()
	if err != nil || !s.late || scored != 1 || best != defaults {
		t.Errorf("%d scored, late %v, %v", scored, s.late, err)
	}
	code, out, _ := command("tune", "-limit", "1ns", steady(t, 500))
	if code != exitOK || !strings.Contains(out, "The time was over") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// The table has the defaults, the chosen line with a star, and ends with what to do.
func TestTunePrintsALineToPaste(t *testing.T) {
	code, out, stderr := command("tune", steady(t, 4000))
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"| (defaults)", "| * ", "Use this line:\n\n\t", "On the half that the search did not see it saves "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	line := strings.TrimSpace(strings.Split(strings.Split(out, "Use this line:")[1], "On the half")[0])
	if _, err := slab.ParseConfig(line); err != nil {
		t.Error(err)
	}
}

// Two peaks that read alike are no saving.
func TestPeaksThatReadAlike(t *testing.T) {
	for _, c := range []struct {
		was, is int64
		want    string
	}{
		{6 << 20, 3 << 20, "3.0 MiB managed instead of 6.0 MiB"},
		{6<<20 + 5000, 6 << 20, "6.0 MiB managed, as before"},
	} {
		if got := bytesOf(score{managed: c.was}, score{managed: c.is}); got != c.want {
			t.Errorf("%d after %d: %q", c.is, c.was, got)
		}
	}
}

// Nor is a share that reads as nothing.
func TestASavingThatReadsAsNothing(t *testing.T) {
	for is, want := range map[float64]string{
		99_960: "takes as much memory", 100_000: "takes as much memory", 100_040: "takes as much memory",
		99_900: "saves 0.1 % of", 100_060: "takes 0.1 % more memory", 150_000: "takes 50.0 % more memory", 25_000: "saves 75.0 % of",
	} {
		if got := saving(100_000, is); !strings.HasPrefix(got, want) {
			t.Errorf("%.0f after 100000: %q", is, got)
		}
	}
}

func TestTuneRefuses(t *testing.T) {
	good, keyed := steady(t, 10), filepath.Join(t.TempDir(), "keyed.csv")
	if err := os.WriteFile(keyed, []byte("g,a,10\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, exitBad, "wants a TRACE"},
		{[]string{"-budget", "0", good}, exitBad, "want a share"},
		{[]string{"-ns", "0", good}, exitBad, "-ns 0: want a number of 1e-09 at least"},
		{[]string{"-ns", "1e-320", good}, exitBad, "want a number of 1e-09 at least"},
		{[]string{"-limit", "-1s", good}, exitBad, "-limit -1s"},
		{[]string{"-config", "strategy=sizeclass,bits=3", good}, exitBad, "bits"},
		{[]string{"-config", "device=nowhere", good}, exitBad, "nowhere"},
		{[]string{keyed}, exitInput, "growpool"},
		{[]string{"absent.csv"}, exitInput, "absent.csv"},
	} {
		if code, _, stderr := command(append([]string{"tune"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, code, stderr)
		}
	}
}

// A line that is worse than the defaults on the half that the search did not see is not chosen, whatever it gains on the
// other: that it takes less memory is told of both.
func TestHolds(t *testing.T) {
	defaults := score{Footprint: 1.2, Cost: 1.3, Within: true}
	for _, c := range []struct {
		s    score
		less bool
		want bool
	}{
		{score{Footprint: 1.1, Cost: 1.2, Within: true}, true, true},
		{score{Footprint: 1.1, Cost: 1.31, Within: true}, true, false},                    // it costs more
		{score{Footprint: 1.3, Cost: 1.2, Within: true}, true, false},                     // it was to take less
		{score{Footprint: 1.3, Cost: 1.2, Within: true}, false, true},                     // it was to save time
		{score{Footprint: 1.1, Cost: 1.2, over: 0.9}, true, true},                         // above what tune aims at
		{score{Footprint: 1.1, Cost: 1.2, over: 1.1, exceeds: true}, true, false},         // above the budget
		{score{Footprint: 1.19, Bookkeeping: 0.02, Cost: 1.2, Within: true}, true, false}, // with its records it takes more
	} {
		if got := c.s.holds(defaults, c.less); got != c.want {
			t.Errorf("%+v holds: %v", c.s, got)
		}
	}
	defaults.exceeds, defaults.over = true, 3
	if s := (score{Footprint: 1.1, Cost: 1.2, over: 2, exceeds: true}); !s.holds(defaults, true) {
		t.Error("it exceeds the budget by less")
	}
}

// A program whose second half is another one keeps the defaults, and is offered no reserve of the first.
func TestTuneConfirmsOnTheOtherHalf(t *testing.T) {
	var b strings.Builder
	b.WriteString("op,id,size\n")
	r := rand.New(rand.NewPCG(1, 2))
	sizes := make([]int, 6000)
	for i := range sizes {
		if i >= 60 {
			fmt.Fprintf(&b, "f,%d,%d\n", i-60, sizes[i-60])
		}
		sizes[i] = 1 << (10 + r.IntN(8))
		if i >= 3000 { // a tenth of the memory
			sizes[i] /= 10
		}
		fmt.Fprintf(&b, "a,%d,%d\n", i, sizes[i])
	}
	path := file(t, b.String())
	scores, found := tuned(t, path)
	for line := range scores {
		if strings.Contains(line, "reserve") {
			t.Errorf("%q is tried", line)
		}
	}
	if found.Unseen.Cost > found.Defaults.Cost || found.Unseen.Footprint > found.Defaults.Footprint*1.02 {
		t.Errorf("%q takes %+v, the defaults %+v", found.Chosen.Config, found.Unseen, found.Defaults)
	}
}
