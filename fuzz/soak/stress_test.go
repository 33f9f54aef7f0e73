package soak

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// Every way is taken, every kind of weather comes, and nothing is wrong. On a busy machine that takes
// more than one run.
func TestStress(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap,max_bytes=3MiB"} {
		missing := "no run"
		for seed := uint64(1); seed < 50 && missing != ""; seed++ {
			r, err := Line(line, 100*time.Millisecond, 4, seed)
			if err != nil || r.violations.Load() > 0 {
				t.Fatal(err, r)
			}
			t.Log(r)
			missing = r.missing(strings.Contains(line, "max_bytes"))
		}
		if missing != "" {
			t.Errorf("%s: %s in no run", line, missing)
		}
	}
}

// missing names something that has not happened, or is empty.
func (r Result) missing(bounded bool) string {
	for i := range r.taken {
		if r.taken[i].Load() == 0 {
			return ways[i].name
		}
	}
	switch {
	case r.forgotten.Load() == 0:
		return "a forgotten buffer"
	case r.changes.Load() == 0:
		return "a change"
	case bounded && r.refused.Load() == 0:
		return "a Get without room"
	}
	return ""
}

// All lines open.
func TestLinesOpen(t *testing.T) {
	for _, line := range Lines {
		p := slab.MustOpen(line)
		if err := p.Close(); err != nil {
			t.Error(line, err)
		}
	}
	if _, err := Line("device=nowhere", time.Millisecond, 1, 1); err == nil {
		t.Error("a device that is not there runs")
	}
}

// A strategy that hands the same memory out twice is found, and so is one that forgets what comes
// back. There is one worker: among several the race detector would find it first.
func TestStressFindsBrokenStrategies(t *testing.T) {
	for line, what := range map[string]string{
		"device=heap,strategy=twice": "somebody else has written", "device=mmap,strategy=keeping": "the closed pool manages",
	} {
		r := Result{counts: countsOf(0)}
		for seed := uint64(1); seed < 50 && !strings.Contains(r.String(), what); seed++ {
			var err error
			if r, err = Line(line, 20*time.Millisecond, 1, seed); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(r.String(), what) || r.violations.Load() == 0 {
			t.Errorf("want %q in %v", what, r)
		}
	}
}

func init() {
	slab.Register("twice", func(up slab.Allocator, _ slab.Config) slab.Allocator { return &twice{Allocator: up} })
	slab.Register("keeping", func(up slab.Allocator, _ slab.Config) slab.Allocator { return keeping{up} })
}

// twice hands out its last block again now and then, if that is as large as what is asked for.
type twice struct {
	slab.Allocator
	mu    sync.Mutex
	calls int
	last  device.Block
}

func (a *twice) Alloc(n int) (device.Block, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls++; a.calls%50 == 0 && a.last.Len >= n && n > 0 {
		return device.Block{Region: again{a.last.Region.(device.HostRegion)}, Len: n}, nil
	}
	b, err := a.Allocator.Alloc(n)
	if err == nil && n > 1<<12 {
		a.last = b
	}
	return b, err
}

func (a *twice) Free(b device.Block) {
	if _, ok := b.Region.(again); !ok {
		a.Allocator.Free(b)
	}
}

// again is a region that another one has the bytes of.
type again struct{ device.HostRegion }

// keeping gives nothing back.
type keeping struct{ slab.Allocator }

func (keeping) Free(device.Block) {}
