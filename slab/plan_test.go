package slab

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/learned"
	"github.com/bufslab/bufslab/slab/internal/poison"
	"github.com/bufslab/bufslab/slab/internal/strategy"
)

// planFile writes a plan to a file.
func planFile(t testing.TB, steps ...[]learned.Hint) string {
	t.Helper()
	var b bytes.Buffer
	if err := learned.WritePlan(&b, steps); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// whole adds a block to hints that nobody asks for, so that they leave no gaps.
func whole(hints ...learned.Hint) []learned.Hint {
	return append(hints, learned.Hint{Size: int(learned.Plan{hints}.Bytes()), Off: 0})
}

// offsets gets buffers of some sizes, and returns them and where they lie.
func offsets(t *testing.T, p *Pool, sizes ...int) (list []PooledBuffer, offs []int) {
	t.Helper()
	for _, n := range sizes {
		b := mustGet(t, p, n)
		list, offs = append(list, b), append(offs, b.Block().Off)
	}
	return list, offs
}

func wantOffsets(t *testing.T, what string, got []int, want ...int) {
	t.Helper()
	for i := range got {
		if want[i] >= 0 && got[i] != want[i] {
			t.Errorf("%s: buffers lie at %d, want %d", what, got, want)
			return
		}
	}
}

// The how-manieth block of a size has the place that the plan has for it, on ranges and in
// one block; all places are there from the first block on.
func TestBuffersLieWhereTheyArePlanned(t *testing.T) {
	file := planFile(t, whole(learned.Hint{Size: 5000, Off: 64 << 10}, learned.Hint{Size: 4096, Off: 8192}, learned.Hint{Size: 100, Off: 16384}, learned.Hint{Size: 4096, Off: 0}, learned.Hint{Size: 100_000, Off: 128 << 10}))
	for _, dev := range []string{"virtual", "virtual:fixed", "mmap", "sim"} {
		p := openPool(t, dev, Config{Strategy: "plan", Plan: file})
		before := p.Stats()
		list, offs := offsets(t, p, 5000, 4096, 100, 4096, 100_000)
		wantOffsets(t, dev, offs, 64<<10, 8192, 16384, 0, 128<<10)
		if s := p.Stats(); before.UpstreamAllocs != 0 || s.UpstreamAllocs != 1 || s.ManagedBytes < 128<<10+100_000 {
			t.Errorf("%s: %+v, then %+v", dev, before, s)
		}
		releaseAll(t, list)
	}
}

// A hint never overrides what is free: the block goes elsewhere. So it does where the plan has
// nothing for it, and where a hint is odd.
func TestAHintIsNoPromise(t *testing.T) {
	file := planFile(t, whole(learned.Hint{Size: 4096, Off: 0}, learned.Hint{Size: 4096, Off: 2048}, learned.Hint{Size: 64, Off: 4100}, learned.Hint{Size: 80, Off: 4096}, learned.Hint{Size: 4096, Off: 1 << 16}))
	p := openPool(t, "virtual", Config{Strategy: "plan", Plan: file})
	list, offs := offsets(t, p, 4096, 4096, 64, 80, 4096, 4096)
	wantOffsets(t, "overlapping", offs, 0, -1, -1, -1, 1<<16, -1)
	if offs[1] < 4096 || offs[2] == 4100 {
		t.Errorf("blocks at %d", offs)
	}
	releaseAll(t, list)
}

// Step begins the hints anew. The last step that was recorded serves all later ones; a plan
// of one step serves all.
func TestStepBeginsTheHintsAnew(t *testing.T) {
	setUp := []learned.Hint{{Size: 64, Off: 0}}
	first := whole(learned.Hint{Size: 64, Off: 4096}, learned.Hint{Size: 64, Off: 64})
	last := []learned.Hint{{Size: 64, Off: 8192}, {Size: 8192, Off: 0}}
	for _, c := range []struct {
		steps [][]learned.Hint
		want  [][]int
	}{
		{[][]learned.Hint{setUp, first, last}, [][]int{{0, -1}, {4096, 64}, {8192, -1}, {8192, -1}}},
		{[][]learned.Hint{first}, [][]int{{4096, 64}, {4096, 64}, {4096, 64}}},
	} {
		p := openPool(t, "virtual", Config{Strategy: "plan", Plan: planFile(t, append(c.steps, nil)[:len(c.steps)]...)})
		for i, want := range c.want {
			if i > 0 {
				p.Step()
			}
			list, offs := offsets(t, p, 64, 64)
			wantOffsets(t, "step", offs, want...)
			releaseAll(t, list)
		}
	}
	openPool(t, "virtual", Config{Strategy: "slab"}).Step() // has no use for it
}

// When less than half of the hints were of use, the rest of the step goes without, and the
// next one with hints again.
func TestHintsOfNoUseAreDroppedForTheStep(t *testing.T) {
	hints := make([]learned.Hint, 60)
	for i := range hints {
		hints[i] = learned.Hint{Size: 4096, Off: 0} // only one at a time can have it
	}
	hints = whole(append(hints, learned.Hint{Size: 64, Off: 1 << 20})...)
	p := openPool(t, "virtual", Config{Strategy: "plan", Plan: planFile(t, hints)})
	sizes := make([]int, 61)
	for i := range sizes {
		sizes[i] = 4096
	}
	sizes[60] = 64
	list, offs := offsets(t, p, sizes...)
	if offs[0] != 0 || offs[60] == 1<<20 {
		t.Errorf("after 59 hints of no use another one was tried: %d", offs)
	}
	releaseAll(t, list)
	p.Step()
	list, offs = offsets(t, p, 64)
	wantOffsets(t, "the next step", offs, 1<<20)
	releaseAll(t, list)
}

// Without a file plan is bestfit that gives small free pages back, too. So it is with a plan for
// another program, which does not begin with the first block, and with one that has gaps.
func TestPlanWithoutAPlanForTheProgram(t *testing.T) {
	other := planFile(t, []learned.Hint{{Size: 5000, Off: 0}, {Size: 7920, Off: 5008}, {Size: 40 << 20, Off: 0}})
	gaps := planFile(t, []learned.Hint{{Size: 1, Off: 0}, {Size: 7920, Off: 1 << 20}})
	pools := []*Pool{onOneProcessor(t, openPool(t, "virtual", Config{Strategy: "bestfit", Decommit: true, CacheBytes: -1}))}
	for _, file := range []string{"", other, gaps} {
		pools = append(pools, onOneProcessor(t, openPool(t, "virtual", Config{Strategy: "plan", Plan: file})))
	}
	live := make([][]PooledBuffer, len(pools))
	for i := range 2000 {
		for k, p := range pools {
			live[k] = append(live[k], mustGet(t, p, 1+(i*7919)%70_000))
			if i%3 > 0 {
				mustRelease(t, takeAt(&live[k], (i*31)%len(live[k])))
			}
		}
	}
	for k, p := range pools {
		if x, y := p.Stats(), pools[0].Stats(); x != y {
			t.Errorf("pool %d: %+v, bestfit has %+v", k, x, y)
		}
	}
	releaseAll(t, slices.Concat(live...))
}

// Blocks that are too small for a place may come before the first one that has one. Then the
// range has room for the plan; a block of a fixed size has not, and there is no plan.
func TestSmallBlocksMayComeBeforeThePlan(t *testing.T) {
	file := planFile(t, whole(learned.Hint{Size: 4096, Off: 200 << 20}, learned.Hint{Size: 1000, Off: 4096}))
	for dev, planned := range map[string]bool{"virtual": true, "mmap": true, "virtual:fixed": false} {
		if dev == "mmap" && maxInt>>40 == 0 {
			continue // there may be no 200 MiB of addresses in a row where an int has 32 bits
		}
		p := openPool(t, dev, Config{Strategy: "plan", Plan: file})
		list, offs := offsets(t, p, 64, 999, 4096, 1000)
		if at := offs[2] == 200<<20; at != planned || at && offs[3] != 4096 {
			t.Errorf("%s: buffers lie at %d", dev, offs)
		}
		if n := p.Stats().ManagedBytes; planned != (n >= 200<<20+4096) || n > 200<<20+64<<10 {
			t.Errorf("%s: %d bytes", dev, n)
		}
		releaseAll(t, list)
	}
}

// What is not there in the end is a hint, too: the bounds hold, a pool opens without room for the plan,
// and a plan for more than any device has hurts nobody.
func TestAPlanIsTakenAsFarAsThereIsRoom(t *testing.T) {
	file := planFile(t, []learned.Hint{{Size: 1 << 20, Off: 0}, {Size: 1 << 20, Off: 1 << 20}})
	huge := planFile(t, []learned.Hint{{Size: 1 << 20, Off: 0}, {Size: maxInt >> 2, Off: 0}, {Size: maxInt >> 2, Off: maxInt >> 2 &^ 15}})
	for _, c := range []struct {
		dev  string
		c    Config
		want int64
	}{
		{"virtual", Config{Plan: file}, 2 << 20},
		{"virtual", Config{Plan: file, MaxBytes: 1 << 20}, 1 << 20},
		{"virtual", Config{Plan: file, MaxHeld: 1 << 20}, 1 << 20},
		{"virtual", Config{Plan: file, Reserve: "1MiB"}, 2 << 20},
		{"virtual", Config{Plan: file, Reserve: "3MiB"}, 3 << 20},
		{"virtual:1MiB", Config{Plan: file}, 1 << 20},
		{"virtual:1MiB", Config{Plan: huge}, 1 << 20},
		{"heap", Config{Plan: huge}, 1 << 20},
		{"sim:1MiB", Config{Plan: huge}, 1 << 20},
	} {
		if c.dev == "heap" && maxInt>>40 == 0 {
			continue // the Go heap may try to have half of all addresses, and ends the process
		}
		c.c.Strategy = "plan"
		p := openPool(t, c.dev, c.c)
		b := mustGet(t, p, 1<<20)
		if s := p.Stats(); s.ManagedBytes != c.want {
			t.Errorf("%s, %v: %d bytes, want %d", c.dev, c.c, s.ManagedBytes, c.want)
		}
		mustRelease(t, b)
		p.StopHolding()
		checkNothing(t, p)
	}
	if _, err := Open(openDevice(t, "virtual:1MiB"), Config{Strategy: "plan", Plan: file, Reserve: "2MiB"}); !outOfMemory(err) {
		t.Errorf("no room for a reserve that was asked for: %v", err)
	}
}

// A file that is not there or damaged is an error before anything happens.
func TestAPlanThatCannotBeReadIsAnError(t *testing.T) {
	dir := t.TempDir()
	damaged, record := filepath.Join(dir, "plan"), filepath.Join(dir, "trace.csv")
	if err := os.WriteFile(damaged, []byte("bufslab plan 1\n5 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := openDevice(t, "virtual")
	_, missing := Open(d, Config{Strategy: "plan", Plan: filepath.Join(dir, "none"), Record: record})
	_, err := Open(d, Config{Strategy: "plan", Plan: damaged, Record: record})
	_, err2 := NewStrategy("plan", d, Config{Plan: damaged})
	var e *FileError
	if !errors.Is(missing, os.ErrNotExist) || !errors.As(err, &e) || e.File != damaged || !errors.As(err2, &e) {
		t.Errorf("%v; %v; %v", missing, err, err2)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("the record file was created")
	}
}

func TestKeysOfPlan(t *testing.T) {
	for line, want := range map[string]string{
		"strategy=bestfit,plan=x":                        "has no use for it, only plan",
		"strategy=plan,plan=":                            "want a file name",
		"strategy=plan,cache_bytes=1MiB":                 "has no use for it",
		"strategy=plan,decommit=true":                    "has no use for it",
		"strategy=plan,plan=x,miss_target=2%,align=64":   "",
		"strategy=plan,plan=a,reserve=learned:b,idle=1s": "",
	} {
		_, err := ParseConfig(line)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Goroutines that get, release and begin steps at the same time share no byte.
func TestPlanConcurrently(t *testing.T) {
	var hints []learned.Hint
	for i := range 2000 {
		hints = append(hints, learned.Hint{Size: 64 * (1 + i%7), Off: 64 * (i * 31 % 4000)})
	}
	p := openPool(t, "mmap", Config{Strategy: "plan", Plan: planFile(t, hints, hints)})
	mustRelease(t, mustGet(t, p, 64)) // the first of the plan
	var all sync.WaitGroup
	for g := range byte(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 2))
			var live []PooledBuffer
			for range 5000 {
				b := mustGet(t, p, 64*(1+r.IntN(7)))
				device.Fill(b.Bytes(), g)
				if live = append(live, b); len(live) < 50 {
					continue
				}
				out := takeAt(&live, r.IntN(len(live)))
				if poison.Unlike(out.Bytes(), g) >= 0 {
					t.Errorf("goroutine %d does not have a buffer alone", g)
				}
				mustRelease(t, out)
				if r.IntN(500) == 0 {
					p.Step()
				}
			}
			releaseAll(t, live)
		})
	}
	all.Wait()
	checkNoneOut(t, p)
}

// FuzzPlan has the fuzzer write a plan and a program. Whatever they are, blocks do not
// overlap, the counters are right, and all memory goes back.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{1, 0, 1, 1, 2, 2}, []byte{1, 1, 2, 200, 1, 255, 3, 129}, true)
	f.Add([]byte{4, 0, 4, 0, 4, 1, 0, 0, 4, 0}, []byte{4, 4, 4, 128, 0, 130, 4, 131, 4}, false)
	f.Fuzz(func(t *testing.T, hints, program []byte, ranges bool) {
		steps := learned.Plan{nil}
		for ; len(hints) > 1; hints = hints[2:] {
			k := len(steps) - 1
			if hints[0] == 0 {
				steps = append(steps, nil)
				continue
			}
			steps[k] = append(steps[k], learned.Hint{Size: int(hints[0]) * 40, Off: int(hints[1]) * 24})
		}
		up := &pages{Source: source{Capacity: 100 << 10}}
		c := Config{Strategy: "plan"}.forStrategy("plan", up)
		o := heapOptions(c, front{})
		o.Decommit = true
		runPlanned(t, strategy.NewPlan(checked(onRanges(up, ranges), 16), o, steps, int(steps.Bytes())), program, up)
	})
}

// runPlanned runs a program of bytes: below 128 they are sizes, below 250 blocks to free.
func runPlanned(t *testing.T, s *strategy.Plan, program []byte, up *pages) {
	var live []device.Block
	var bytes int64
	for _, op := range program {
		switch {
		case op < 128:
			b, err := s.Alloc(40 * int(op))
			if err != nil && !outOfMemory(err) {
				t.Fatal(err)
			}
			for _, o := range live {
				if b.Len > 0 && o.Region == b.Region && o.Off < b.Off+b.Len && b.Off < o.Off+o.Len {
					t.Fatalf("%+v overlaps %+v", b, o)
				}
			}
			if b.Len > 0 {
				live, bytes = append(live, b), bytes+int64(b.Len)
			}
		case op < 250 && len(live) > 0:
			b := takeAt(&live, int(op-128)%len(live))
			s.Free(b)
			bytes -= int64(b.Len)
		case op < 253:
			s.Step()
		default:
			s.FreeHeld()
		}
		u := Usage(s.Usage())
		if u.ActiveBytes != bytes || u.ActiveBlocks != int64(len(live)) || u.ManagedBytes() != up.Bytes || u.HeldBytes < 0 || u.RoundingBytes < 0 {
			t.Fatalf("%+v, but %d bytes are out and %d upstream", u, bytes, up.Bytes)
		}
	}
	for _, b := range live {
		s.Free(b)
	}
	if s.StopHolding(); up.Bytes != 0 || up.Open != 0 {
		t.Errorf("%d bytes, %d ranges are left", up.Bytes, up.Open)
	}
}
