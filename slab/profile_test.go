package slab

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/replaying"
	"github.com/bufslab/bufslab/slab/internal/profile"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// openSampled opens a pool that samples whatever the time is that it takes. At a rate of 1
// that is each Get of 40 bytes or more, and the figures are exact.
func openSampled(t testing.TB, dev string, c Config) *Pool {
	t.Helper()
	p := openPool(t, dev, c)
	p.pool.profile.Pace.Hold()
	return p
}

// profiled adds up what a profile has.
func profiled(p *Pool) (inUse, leaked profile.Amount) {
	for _, r := range p.pool.profile.Samples.Records() {
		inUse.Add(r.InUse)
		leaked.Add(r.Leaked)
	}
	return inUse, leaked
}

// checkProfile compares a profile of rate 1 with the Stats.
func checkProfile(t *testing.T, p *Pool) {
	t.Helper()
	s := p.Stats()
	inUse, leaked := profiled(p)
	if inUse.Bytes != s.ActiveBytes || inUse.Objects() != s.ActiveBlocks || leaked.Objects() != s.Forgotten {
		t.Errorf("%d buffers of %d bytes in use, %d leaked: %+v", inUse.Objects(), inUse.Bytes, leaked.Objects(), s)
	}
}

func TestProfileHasWhatIsOut(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.ProfileRate = 1
		p := openSampled(t, dev, c)
		r := rand.New(rand.NewPCG(1, 2))
		var live []PooledBuffer
		for range 500 {
			if live = append(live, mustGet(t, p, 40+r.IntN(100_000))); len(live) > 20 {
				mustRelease(t, takeAt(&live, r.IntN(len(live))))
			}
		}
		checkProfile(t, p)
		releaseAll(t, live)
		checkProfile(t, p)
	})
}

// The bytes in use that a profile estimates are within 5 % of those that there are. That is
// six standard deviations at the first look, and would be fewer in a shorter run.
func TestProfileEstimates(t *testing.T) {
	atLength(t)
	p := openSampled(t, "virtual:1TiB", Config{ProfileRate: 128 << 10})
	r := rand.New(rand.NewPCG(3, 4))
	var live []PooledBuffer
	n := max(50_000, long(t, 50_000))
	for i := range n {
		live = append(live, mustGet(t, p, int(math.Exp2(6+14*r.Float64()))))
		if len(live) > 100_000 || r.IntN(4) == 0 {
			mustRelease(t, takeAt(&live, r.IntN(len(live))))
		}
		if i%(n/4) == n/4-1 {
			inUse, _ := profiled(p)
			if off := float64(inUse.Bytes)/float64(p.Stats().ActiveBytes) - 1; math.Abs(off) > 0.05 {
				t.Errorf("after %d Gets %.1f %% off", i+1, 100*off)
			}
		}
	}
	if releaseAll(t, live); len(p.pool.profile.Samples.Records()) != 0 {
		t.Error("something is in use though all was released")
	}
}

// forgetSmall and forgetLarge are two places whose buffers are forgotten.
func forgetSmall(t *testing.T, p *Pool, n int) {
	for range n {
		mustGet(t, p, 300).Bytes()[0] = 1
	}
}

func forgetLarge(t *testing.T, p *Pool, n int) {
	for range n {
		mustGet(t, p, 3000).Bytes()[0] = 1
	}
}

// Buffers that were forgotten are in use no more when the collector has found them, and
// leaked where they were got.
func TestProfileOfForgottenBuffers(t *testing.T) {
	p := openSampled(t, "heap", Config{ProfileRate: 4 << 10})
	n := long(t, 30_000)
	forgetSmall(t, p, n/2)
	forgetLarge(t, p, n/2)
	if !collect(p, func(s Stats) bool { return s.Forgotten == int64(n/2*2) }) {
		t.Fatalf("%+v", p.Stats())
	}
	if inUse, _ := profiled(p); inUse != (profile.Amount{}) {
		t.Errorf("in use: %+v", inUse)
	}
	for site, size := range map[string]int{"forgetSmall": 300, "forgetLarge": 3000} {
		var found int64
		for _, r := range p.pool.profile.Samples.Records() {
			if slices.ContainsFunc(r.Frames(watch.IsHidden), func(f runtime.Frame) bool { return strings.HasSuffix(f.Function, "."+site) }) {
				found += r.Leaked.Bytes
			}
		}
		want := float64(n / 2 * size)
		if off := float64(found)/want - 1; math.Abs(off) > max(0.05, 6*math.Sqrt(4096/want)) {
			t.Errorf("%s: %.1f %% off", site, 100*off)
		}
	}
}

// So it is off the heap, whether the block comes back or goes into quarantine.
func TestProfileOfForgottenBuffersOffTheHeap(t *testing.T) {
	for _, dev := range []string{"mmap", "mmap:fixed", "sim"} {
		for name, use := range map[string]func(PooledBuffer){"within": within, "escaped": func(b PooledBuffer) { b.Bytes() }} {
			p := openSampled(t, dev, Config{ProfileRate: 1})
			for range 100 {
				forgetOne(t, p, 100<<10, use)
			}
			if !collect(p, func(s Stats) bool { return s.Forgotten == 100 }) {
				t.Fatalf("%s, %s: %+v", dev, name, p.Stats())
			}
			checkProfile(t, p)
			if _, leaked := profiled(p); leaked.Bytes != 100*100<<10 {
				t.Errorf("%s, %s: %+v", dev, name, leaked)
			}
		}
	}
}

// A buffer is in use until its last handle is gone, whatever that is.
func TestProfileOfParts(t *testing.T) {
	p := openSampled(t, "mmap", Config{ProfileRate: 1})
	b := mustGet(t, p, 100<<10)
	c := mustSlice(t, b, 100, 200)
	mustRelease(t, b)
	checkProfile(t, p)
	if inUse, _ := profiled(p); inUse.Bytes != 100<<10 {
		t.Errorf("%+v", inUse)
	}
	mustRelease(t, c)
	checkProfile(t, p)

	func() {
		b := mustGet(t, p, 100<<10)
		forgetPart(t, b, within)
		mustRelease(t, b)
	}()
	if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
		t.Fatalf("%+v", p.Stats())
	}
	checkProfile(t, p)
}

// So it is on the heap, where a buffer is forgotten with all its parts.
func TestProfileOfForgottenParts(t *testing.T) {
	p := openSampled(t, "heap", Config{ProfileRate: 1})
	func() {
		b := mustGet(t, p, 100<<10)
		mustSlice(t, b, 100, 200).Bytes()[0] = 1
	}()
	if !collect(p, func(s Stats) bool { return s.Forgotten == 2 }) {
		t.Fatalf("%+v", p.Stats())
	}
	if inUse, leaked := profiled(p); inUse != (profile.Amount{}) || leaked.Objects() != 1 || leaked.Bytes != 100<<10 {
		t.Errorf("%+v in use, %+v leaked", inUse, leaked)
	}
}

// What Grow returns is in use with its new length, where it was in place and where not.
func TestProfileOfGrow(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		if dev == "virtual" {
			t.Skip("there is nothing to copy")
		}
		c.ProfileRate = 1
		p := openSampled(t, dev, c)
		b := mustGet(t, p, 1000)
		for _, n := range []int{100, 1000, 30_000, 900_000, 50} {
			var err error
			if b, err = b.Grow(n); err != nil {
				t.Fatal(err)
			}
			checkProfile(t, p)
		}
		mustRelease(t, b)
		checkProfile(t, p)
	})
}

func TestProfileOfSlices(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p := openSampled(t, dev, Config{ProfileRate: 1})
		for range 10 {
			b, err := p.GetBytes(5000)
			if err != nil {
				t.Fatal(err)
			}
			checkProfile(t, p)
			if err := p.Put(b); err != nil {
				t.Error(err)
			}
			checkProfile(t, p)
			if err := p.Put(b); !errors.Is(err, ErrForeign) {
				t.Errorf("a second Put returned %v", err)
			}
		}
	}
}

// A buffer that is sampled is released once, also while With runs, and by streams.
func TestSampledBuffersAreReleasedOnce(t *testing.T) {
	p := openSampled(t, "sim", Config{ProfileRate: 1})
	b := mustGet(t, p, 5000)
	if err := b.With(func([]byte) { mustRelease(t, b); checkProfile(t, p) }); err != nil {
		t.Error(err)
	}
	checkProfile(t, p)
	if err := b.Release(); err != ErrReleased || p.Stats().DoubleReleases != 1 {
		t.Errorf("a second Release returned %v", err)
	}
	s, err := openDevice(t, "sim").NewStream()
	if err != nil {
		t.Fatal(err)
	}
	b = mustGet(t, p, 5000)
	b.UsedOn(s)
	mustRelease(t, b)
	checkProfile(t, p)
}

// After Close a profile has what is still out, and the error of Close says where it was got.
func TestProfileAfterClose(t *testing.T) {
	p := openSampled(t, "heap", Config{ProfileRate: 1})
	b := mustGet(t, p, 5000)
	err := p.Close()
	var leaks *LeakError
	if !errors.As(err, &leaks) || len(leaks.Leaks) != 1 || leaks.Leaks[0].Sampled != 1 || leaks.Leaks[0].Bytes != 5000 {
		t.Fatalf("%v", err)
	}
	if want := "\n\tby samples, about 5000 bytes in 1 buffers got at "; !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "support_test.go") {
		t.Error(err)
	}
	checkProfile(t, p)
	mustRelease(t, b)
	checkProfile(t, p)
}

func TestLeaksBySamples(t *testing.T) {
	p := openSampled(t, "mmap", Config{ProfileRate: 1})
	kept := []PooledBuffer{mustGet(t, p, 100<<10), mustGet(t, p, 100)}
	forgetOne(t, p, 200<<10, within)
	if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
		t.Fatalf("%+v", p.Stats())
	}
	list := p.Leaks()
	if len(list) != 3 || list[0].Bytes != 100 || list[1].Bytes != 100<<10 || list[2].Bytes != 200<<10 || !list[2].Forgotten || list[0].Forgotten {
		t.Errorf("%+v", list)
	}
	releaseAll(t, kept)

	p = openSampled(t, "mmap", Config{ProfileRate: 1, OnForget: "report"})
	kept = []PooledBuffer{mustGet(t, p, 100)}
	if list := p.Leaks(); len(list) != 1 || list[0].Sampled != 0 {
		t.Errorf("%+v where each is known", list)
	}
	releaseAll(t, kept)
}

func TestNoProfile(t *testing.T) {
	p := openLine(t, "") // as with profile_rate=0
	defer p.Close()
	for i := range 100 {
		defer mustRelease(t, mustGet(t, p, 1<<(i%23)))
	}
	if list := p.Leaks(); list != nil {
		t.Errorf("%+v", list)
	}
	if text := pprof(t, p, "raw"); !strings.Contains(text, "Period: 0") || strings.Contains(text, "Locations\n ") {
		t.Error(text)
	}
}

// A Get that is not sampled leaves no mark on its buffer, whose Release would take longer. Nor does a Grow.
func TestWhatIsNotSampledHasNoMark(t *testing.T) {
	for _, line := range []string{"", "profile_rate=1PiB"} {
		p := openLine(t, line)
		for range 10 {
			b := mustGrow(t, mustGet(t, p, 1000), 1010)
			if b.slot.TakeSampled() {
				t.Errorf("%q: a buffer is sampled", line)
			}
			mustRelease(t, b)
		}
		check.Must(t, p.Close())
	}
}

// pprof runs go tool pprof on the profile of a pool, and gives it commands.
func pprof(t *testing.T, p *Pool, commands ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pool.pb.gz")
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(p.WriteProfile(f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	check.GoCommand(t)
	run := exec.Command("go", "tool", "pprof", file)
	run.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\nquit\n")
	run.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// go tool pprof shows the caller as the one who has the bytes, in use and leaked.
func TestProfileForPprof(t *testing.T) {
	atLength(t)
	p := openSampled(t, "heap", Config{ProfileRate: 1})
	forgetLarge(t, p, 10)
	if !collect(p, func(s Stats) bool { return s.Forgotten == 10 }) {
		t.Fatalf("%+v", p.Stats())
	}
	defer mustRelease(t, mustGet(t, p, 5000))
	text := pprof(t, p, "top", "inuse_objects", "top", "leaked_objects", "top", "leaked_space", "top", "raw")
	for _, want := range []string{
		`4.88kB +100% +100% +4.88kB +100% +\S*slab\.mustGet\n`,
		` 1 +100% +100% +1 +100% +\S*slab\.mustGet\n`,
		` 10 +100% +100% +10 +100% +\S*slab\.mustGet\n`,
		`29.30kB +100% +\S*slab.forgetLarge\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text) || !strings.Contains(text, "device=heap,profile_rate=1") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, want := range []string{"Period: 1\n", "PeriodType: space bytes", "inuse_objects/count inuse_space/bytes[dflt] leaked_objects/count leaked_space/bytes", "support_test.go:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// A pool that hands out much and has little out has no sample of that, most of the time: then the profile
// names the stack that had it before. The sums are those of Stats all the same.
func TestAProfileWithoutASampleNamesAStack(t *testing.T) {
	p := openSampled(t, "heap", Config{ProfileRate: 1 << 20})
	b := mustGet(t, p, 5000)
	for before, now := false, true; !before || now; {
		mustRelease(t, b)
		b = mustGet(t, p, 5000)
		inUse, _ := profiled(p)
		now = inUse != profile.Amount{}
		before = before || now
	}
	defer mustRelease(t, b)
	var found int64
	for _, r := range p.pool.sampled(p.pool.out()) {
		if found += r.InUse.Bytes; r.Stack == nil {
			t.Errorf("%d bytes have no stack", r.InUse.Bytes)
		}
	}
	if found != p.Stats().ActiveBytes {
		t.Errorf("%d bytes in use, %d in the profile", p.Stats().ActiveBytes, found)
	}
}

type fullFile struct{}

func (fullFile) Write([]byte) (int, error) { return 0, device.ErrOutOfMemory }

func TestWriteProfileFails(t *testing.T) {
	if err := openPool(t, "heap", Config{}).WriteProfile(fullFile{}); err != device.ErrOutOfMemory {
		t.Error(err)
	}
}

// Whatever a program gets its memory by, the innermost frame that is shown is its own.
func TestProfileShowsTheCaller(t *testing.T) {
	for name, get := range map[string]func(p *Pool) (release func()){
		"Get":      func(p *Pool) func() { b := mustGet(t, p, 5000); return func() { mustRelease(t, b) } },
		"GetBytes": func(p *Pool) func() { b, _ := p.GetBytes(5000); return func() { _ = p.Put(b) } },
		"Make":     func(p *Pool) func() { s, _ := Make[int64](p, 700); return func() { _ = s.Release() } },
		"GetContext": func(p *Pool) func() {
			b, _ := p.GetContext(t.Context(), 5000)
			return func() { mustRelease(t, b) }
		},
		"Grow": func(p *Pool) func() {
			b, _ := mustGet(t, p, 100).Grow(100 << 10)
			return func() { mustRelease(t, b) }
		},
	} {
		p := openSampled(t, "heap", Config{ProfileRate: 1})
		for range 3 { // of which one is a hit
			release := get(p)
			list := p.pool.profile.Samples.Records()
			if len(list) == 0 {
				t.Errorf("%s: nothing is in use", name)
			}
			for _, r := range list {
				if f := r.Frames(watch.IsHidden)[0]; !strings.HasSuffix(f.File, "_test.go") {
					t.Errorf("%s: %s at %s:%d", name, f.Function, f.File, f.Line)
				}
			}
			release()
		}
		checkProfile(t, p)
	}
}

// Samples are taken, released and written by many at a time, and none is lost.
func TestProfileBesideItsPool(t *testing.T) {
	p := openSampled(t, "heap", Config{ProfileRate: 2 << 10})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			var live []PooledBuffer
			for i := range 5000 {
				live = append(live, mustGet(t, p, 40+i%3000))
				live[len(live)-1].Bytes()[0] = 1
				if len(live) > 30 {
					mustRelease(t, takeAt(&live, i%len(live)))
				}
			}
			releaseAll(t, live)
		})
	}
	for range 50 {
		if err := p.WriteProfile(fullFile{}); err != device.ErrOutOfMemory {
			t.Error(err)
		}
	}
	all.Wait()
	checkProfile(t, p)
}

// A replay has to repeat, and draws no sample.
func TestAReplayIsNotSampled(t *testing.T) {
	for _, replayed := range []bool{false, true} {
		p := openPool(t, "heap", Config{ProfileRate: 1})
		if replayed {
			if _, err := replaying.Reopen(p, 1); err != nil {
				t.Fatal(err)
			}
		}
		b := mustGet(t, p, 5000)
		if n := len(p.pool.profile.Samples.Records()); (n == 0) != replayed {
			t.Errorf("replayed %t: %d stacks", replayed, n)
		}
		mustRelease(t, b)
	}
}
