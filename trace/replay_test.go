package trace

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
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
	if r, err := Replay(read(t, "op,id,size\n"), p); err != nil || r != (Result{}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// With strategy direct every figure is known.
func TestReplayCounts(t *testing.T) {
	p := open(t, "device=virtual,strategy=direct")
	defer p.Close()
	r, err := Replay(read(t, "a,0,100\na,1,50\nf,0,100\na,2,0\nf,2,0\nf,1,50\n"), p)
	if r.NsPerOp <= 0 {
		t.Errorf("%v ns an op", r.NsPerOp)
	}
	r.NsPerOp = 0
	want := Result{Allocs: 3, Frees: 3, PeakLiveBytes: 150, PeakManagedBytes: 150, FootprintRatio: 1,
		UpstreamAllocs: 2, UpstreamFrees: 2, MissRatio: 2.0 / 3}
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
