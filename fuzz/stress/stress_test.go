package main

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		return
	}
	os.Exit(m.Run())
}

// Every way is taken, every kind of weather comes, and nothing is wrong. On a busy machine that takes
// more than one run.
func TestStress(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap,max_bytes=3MiB"} {
		missing := "no run"
		for seed := uint64(1); seed < 50 && missing != ""; seed++ {
			r, err := run(line, 100*time.Millisecond, 4, seed)
			if err != nil || r.violations > 0 {
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
func (r result) missing(bounded bool) string {
	for i, n := range r.taken {
		if n == 0 {
			return ways[i].name
		}
	}
	switch {
	case r.forgotten == 0:
		return "a forgotten buffer"
	case r.change == 0:
		return "a change"
	case bounded && r.refused == 0:
		return "a Get without room"
	}
	return ""
}

// All lines open.
func TestLinesOpen(t *testing.T) {
	for _, line := range lines {
		p := slab.MustOpen(line)
		if err := p.Close(); err != nil {
			t.Error(line, err)
		}
	}
	if _, err := run("device=nowhere", time.Millisecond, 1, 1); err == nil {
		t.Error("a device that is not there runs")
	}
}

// A strategy that hands the same memory out twice is found, and so is one that forgets what comes
// back. There is one worker: among several the race detector would find it first.
func TestStressFindsBrokenStrategies(t *testing.T) {
	for line, what := range map[string]string{
		"device=heap,strategy=twice": "somebody else has written", "device=mmap,strategy=keeping": "the closed pool manages",
	} {
		var r result
		for seed := uint64(1); seed < 50 && !strings.Contains(r.String(), what); seed++ {
			var err error
			if r, err = run(line, 20*time.Millisecond, 1, seed); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(r.String(), what) || r.violations == 0 {
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
