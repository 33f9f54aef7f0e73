package trace

import (
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

func read(t *testing.T, text string) *Trace {
	t.Helper()
	tr, err := Read(strings.NewReader(text), "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func open(t *testing.T, line string) *slab.Pool {
	t.Helper()
	c, err := slab.ParseConfig(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := slab.OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTraceCountsWhatTheProgramHad(t *testing.T) {
	tr := read(t, "a,9,100\na,5,50\nf,9,100\na,9,20\nf,5,50\n")
	if tr.Name != "t.csv" || tr.Allocs != 3 || tr.Frees != 2 || tr.PeakLiveBytes != 150 || tr.LiveBytes != 20 || tr.slots != 2 {
		t.Errorf("%+v", tr)
	}
}

// Sizes that are possible one by one may be more than a sum can say.
func TestSumsThatOverflowAreRefused(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("a sum of 64 bits has room for any sizes there")
	}
	for _, text := range []string{
		"a,0,9223372036854775807\na,1,1\n",
		"op,key,size\ng,a,9223372036854775807\ng,b,1\n",
	} {
		tr, err := Read(strings.NewReader(text), "t.csv")
		if at := (*SyntaxError)(nil); !errors.Is(err, ErrSize) || !errors.As(err, &at) || at.Line != strings.Count(text, "\n") {
			t.Errorf("%q: %+v, %v", text, tr, err)
		}
	}
}

// Sizes about those that a step has no room for.
func TestLargeSizesAreKept(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("there are none there")
	}
	for _, size := range []string{"2147483647", "2147483648", "2147483649", "4294967295", "4294967296"} {
		for op := range read(t, "a,0,"+size+"\nf,0,\n").Ops() {
			if strconv.Itoa(op.Size) != size {
				t.Errorf("%v of %d bytes, want %s", op.Kind, op.Size, size)
			}
		}
	}
}

func TestKeyedTrace(t *testing.T) {
	tr := read(t, "op,key,size\ng,a,100\ng,b,10\ng,a,150\ng,b,5\n")
	if !tr.Keyed() || tr.Gets != 4 || tr.LargestBytes != 160 || !slices.Equal(tr.Keys(), []string{"a", "b"}) || tr.Allocs != 0 {
		t.Errorf("%+v", tr)
	}
	var got []int
	for key, size := range tr.Requests() {
		got = append(got, key, size)
	}
	if !slices.Equal(got, []int{0, 100, 1, 10, 0, 150, 1, 5}) {
		t.Error(got)
	}
	p := open(t, "device=virtual,strategy=direct")
	defer p.Close()
	if _, err := Replay(tr, p); !errors.Is(err, ErrKeyed) {
		t.Error(err)
	}
	plain := read(t, "a,0,100\nf,0,100\n")
	for range plain.Requests() {
		t.Error("allocations are no requests")
	}
	if plain.Keyed() || len(plain.Keys()) != 0 {
		t.Error("it is keyed")
	}
}

func TestReplayOfNothing(t *testing.T) {
	p := open(t, "device=virtual,strategy=direct")
	defer p.Close()
	if r, err := Replay(read(t, "op,id,size\n"), p); err != nil || r != (Result{Processors: 1}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// With strategy direct every figure is known.
func TestReplayCounts(t *testing.T) {
	p := open(t, "device=virtual,strategy=direct")
	defer p.Close()
	r, err := Replay(read(t, "a,0,100\na,1,50\nf,0,100\na,2,0\nf,2,0\nf,1,50\n"), p)
	if r.NsPerOp < 0 || r.NsPerOp == 0 && runtime.GOOS != "windows" { // whose clock may tick each half millisecond
		t.Errorf("%v ns an op", r.NsPerOp)
	}
	r.NsPerOp = 0
	want := Result{Allocs: 3, Frees: 3, Processors: 1, PeakLiveBytes: 150, PeakManagedBytes: 150, FootprintRatio: 1,
		UpstreamAllocs: 2, UpstreamFrees: 2, UncachedAllocs: 3, MissRatio: 2.0 / 3}
	if err != nil || r != want {
		t.Errorf("%+v, %v\nwant %+v", r, err, want)
	}
}

func TestReplayShowsWhatATraceLeaksAndReleasesIt(t *testing.T) {
	p := open(t, "device=virtual,strategy=direct")
	defer p.Close()
	r, err := Replay(read(t, "a,0,100\na,1,50\nf,0,100\n"), p)
	if err != nil || r.EndActiveBytes != 50 || r.EndUpstreamBytes != 50 || r.EndHeldBytes != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if s := p.Stats(); s.ActiveBytes != 0 {
		t.Errorf("%+v", s)
	}
}

func TestReplayEndsAtTheFirstFailureAndReleasesAll(t *testing.T) {
	p := open(t, "device=virtual:1MiB,strategy=direct")
	defer p.Close()
	_, err := Replay(read(t, "a,0,1000000\na,1,40000\na,2,10000\nf,0,1000000\n"), p)
	if !errors.Is(err, device.ErrOutOfMemory) || !strings.Contains(err.Error(), "t.csv: op 3 of 4") {
		t.Error(err)
	}
	if s := p.Stats(); s.ActiveBytes != 0 {
		t.Errorf("%+v", s)
	}
}

func TestEveryStrategyEndsEmpty(t *testing.T) {
	tr := read(t, "a,0,100\na,1,50\nf,0,100\na,2,100\na,3,1000000\nf,3,1000000\na,4,0\nf,4,0\nf,2,100\nf,1,50\n")
	for _, strategy := range slab.Strategies() {
		for _, dev := range []string{"heap", "mmap", "virtual", "virtual:fixed", "sim:1GiB"} {
			p := open(t, "device="+dev+",strategy="+strategy)
			r, err := Replay(tr, p)
			if err != nil || r.EndActiveBytes != 0 || r.EndHeldBytes != 0 || r.EndUpstreamBytes != 0 || r.FootprintRatio < 1 {
				t.Errorf("%s on %s: %+v, %v", strategy, dev, r, err)
			}
			if err := p.Close(); err != nil {
				t.Errorf("%s on %s: %v", strategy, dev, err)
			}
		}
	}
}

// A reserve is taken before the replay: its call is none of an allocation, and its memory is managed.
func TestAReserveIsNoMiss(t *testing.T) {
	p := open(t, "device=virtual,strategy=bestfit,reserve=1MiB")
	defer p.Close()
	r, err := Replay(read(t, "a,0,4096\nf,0,4096\n"), p)
	if err != nil || r.UpstreamAllocs != 0 || r.MissRatio != 0 || r.PeakManagedBytes != 1<<20 {
		t.Errorf("%+v, %v", r, err)
	}
}

// With what the last run had in use, the traces of tensors and of a model server need at most
// a fortieth more on average, and call in a thousandth of the allocations at most.
func TestALearnedReserveServesTheNextRun(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("the peaks of these traces are larger than what words of 32 bits can count")
	}
	product := 1.0
	names := []string{"torch-ws_medium_128_inference", "torch-ws_medium_128_training", "torch-ws_medium_512_training",
		"somas-resnet50", "iopddl-G_1", "azure-llm-code"}
	for _, name := range names {
		tr, err := Load(filepath.Join(check.SharedDir(t), "traces", name+".csv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		line := "device=virtual,strategy=bestfit,cache_bytes=0,reserve=learned:" + filepath.Join(t.TempDir(), "peak")
		var r Result
		for range 2 {
			var err error
			p := open(t, line)
			if r, err = Replay(tr, p); errors.Join(err, p.Close()) != nil {
				t.Fatal(err)
			}
		}
		if r.MissRatio > 0.001 {
			t.Errorf("%s: %.2f %% misses", name, 100*r.MissRatio)
		}
		product *= r.FootprintRatio
	}
	if mean := math.Pow(product, 1/float64(len(names))); mean > 1.025 {
		t.Errorf("a footprint of %.3f", mean)
	}
}
