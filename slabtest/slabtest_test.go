package slabtest_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slabtest"
)

// A fake is a test whose failures another test looks at.
type fake struct {
	testing.TB
	mu       sync.Mutex
	cleanups []func()
	errors   []string
	helpers  int
	failed   bool
}

func (f *fake) Helper()          { f.helpers++ }
func (f *fake) Failed() bool     { return f.failed }
func (f *fake) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *fake) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = true
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *fake) Fatal(args ...any) {
	f.Errorf("%s", fmt.Sprint(args...))
	runtime.Goexit()
}

// run runs a test and its cleanups, as package testing does, and returns its failures.
func (f *fake) run(test func(testing.TB)) []string {
	var done sync.WaitGroup
	done.Go(func() {
		defer func() {
			for i := len(f.cleanups) - 1; i >= 0; i-- {
				f.cleanups[i]()
			}
		}()
		test(f)
	})
	done.Wait()
	return f.errors
}

func failures(test func(testing.TB)) []string { return new(fake).run(test) }

// here returns the place of its caller, so many lines below.
func here(below int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d: ", file, line+below)
}

func get(t testing.TB, p *slab.Pool, n int) slab.PooledBuffer {
	t.Helper()
	b, err := p.Get(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// want fails unless there is one failure that has all parts, and none of the others.
func want(t *testing.T, got []string, parts ...string) {
	t.Helper()
	if len(got) != 1 {
		t.Fatalf("%d failures: %q", len(got), got)
	}
	for _, part := range parts {
		if text, not := strings.CutPrefix(part, "!"); not == strings.Contains(got[0], text) {
			t.Errorf("%q in\n%s", part, got[0])
		}
	}
}

// lines are configurations in which each buffer is found.
var lines = []string{"", "device=mmap", "device=heap,strategy=bestfit", "device=mmap,strategy=sizeclass", "device=sim",
	"strict=true", "check=true", "on_forget=free", "device=mmap,on_forget=free", "device=mmap,guard=1", "on_forget=report"}

func TestNothingIsOut(t *testing.T) {
	for _, line := range lines {
		if got := failures(func(t testing.TB) {
			p := slabtest.Open(t, line)
			b := get(t, p, 5000)
			part, _ := b.Slice(10, 20)
			b.Release()
			part.Release()
			slabtest.NoLeaks(t, p)
		}); got != nil {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// What is out at the end is told by place: how many buffers, and their bytes.
func TestWhatIsOutIsToldByPlace(t *testing.T) {
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var kept []slab.PooledBuffer
			var many, one string
			got := failures(func(t testing.TB) {
				p := slabtest.Open(t, line)
				many = here(2)
				for range 3 {
					b, _ := p.Get(5000)
					kept = append(kept, b)
				}
				one = here(1)
				b, _ := p.Get(100)
				kept = append(kept, b)
				get(t, p, 77).Release()
			})
			want(t, got, "4 buffers of 15100 bytes were not released by the end of the test", many+"3 buffers of 15000 bytes, still out\n",
				one+"1 buffer of 100 bytes, still out\n", "!forgotten")
			runtime.KeepAlive(kept)
		})
	}
}

// A buffer of plain memory, which a pool made where it had no room, has to be released, too.
func TestWhatIsOutBeyondTheBoundIsTold(t *testing.T) {
	for _, line := range []string{"", "device=mmap,", "on_forget=return,"} {
		var plain slab.PooledBuffer
		test := func(t testing.TB) {
			p := slabtest.Open(t, line+"max_bytes=16KiB,overflow=make")
			b := get(t, p, 16<<10)
			defer b.Release()
			plain = get(t, p, 10<<10)
			if n := p.Stats().OverflowBlocks; n != 1 {
				t.Errorf("%d buffers of plain memory", n)
			}
		}
		want(t, failures(test), "1 buffer of 10240 bytes ", " by the end of the test")
		if got := failures(func(t testing.TB) { test(t); plain.Release() }); got != nil {
			t.Errorf("%sreleased: %q", line, got)
		}
	}
	want(t, failures(func(t testing.TB) {
		p := slabtest.Open(t, "max_bytes=16KiB,overflow=make")
		get(t, p, 10<<20) // is dropped
	}), "1 buffer of 10485760 bytes, forgotten")
}

// What nothing reaches any more is told as forgotten, of any size and on any device.
func TestWhatWasForgottenIsToldByPlace(t *testing.T) {
	for _, line := range lines {
		if strings.Contains(line, "mmap,on_forget=free") {
			continue // it does not watch small buffers
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var small, large string
			got := failures(func(t testing.TB) {
				p := slabtest.Open(t, line)
				small = here(1)
				_, _ = p.Get(100)
				large = here(1)
				_, _ = p.Get(100_000)
			})
			want(t, got, "2 buffers of 100100 bytes", small+"1 buffer of 100 bytes, forgotten: nothing reaches it any more\n",
				large+"1 buffer of 100000 bytes, forgotten", "!still out")
		})
	}
}

// A part is told with the place of its Slice. It is no second buffer.
func TestPartsAreToldByPlace(t *testing.T) {
	var part slab.PooledBuffer
	var at string
	got := failures(func(t testing.TB) {
		p := slabtest.Open(t, "device=mmap")
		b := get(t, p, 5000)
		at = here(1)
		part, _ = b.Slice(0, 10)
		b.Release()
	})
	want(t, got, "1 buffer of 5000 bytes was not released", at+"1 buffer of 10 bytes, still out", "A buffer is out until its last part is released.")
	runtime.KeepAlive(part)
}

// NoLeaks looks now: what it tells is not out later.
func TestNoLeaksBetweenSteps(t *testing.T) {
	got := failures(func(t testing.TB) {
		p := slabtest.Open(t, "")
		b := get(t, p, 10)
		slabtest.NoLeaks(t, p)
		b.Release()
		slabtest.NoLeaks(t, p)
	})
	want(t, got, "1 buffer of 10 bytes was not released when NoLeaks looked", "slabtest_test.go")
}

// Places are not kept where the line says what to do with forgotten buffers and no more.
func TestALineMayForbidPlaces(t *testing.T) {
	var kept slab.PooledBuffer
	got := failures(func(t testing.TB) {
		kept = get(t, slabtest.Open(t, "on_forget=return,name=mine"), 10)
	})
	want(t, got, "1 buffer of 10 bytes is out by the end of the test, and 0 found forgotten (pool mine).\n", "on_forget=report", "!slabtest_test.go")
	got = failures(func(t testing.TB) {
		kept = get(t, slabtest.Open(t, "on_forget=return,profile_rate=1"), 10_000)
	})
	want(t, got, "1 buffer of 10000 bytes is out", "By the samples of profile_rate, about:\n", "slabtest_test.go", "1 buffer of 10000 bytes, still out")
	runtime.KeepAlive(kept)
}

// NoLeaks looks at pools of others, too.
func TestNoLeaksOfAPoolOfOthers(t *testing.T) {
	p := slab.MustOpen("strict=true")
	b := get(t, p, 10)
	want(t, failures(func(t testing.TB) { slabtest.NoLeaks(t, p) }), "slabtest_test.go", "1 buffer of 10 bytes, still out")
	b.Release()
	if got := failures(func(t testing.TB) { slabtest.NoLeaks(t, p) }); got != nil {
		t.Error(got)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := failures(func(t testing.TB) { slabtest.NoLeaks(t, p) }); got != nil {
		t.Errorf("of a closed pool: %q", got)
	}
}

func TestAWrongLineIsFatal(t *testing.T) {
	dir := t.TempDir()
	for line, part := range map[string]string{
		"stategy=slab":                       "stategy",
		"device=nowhere":                     "nowhere",
		"device=mmap,reserve=learned:" + dir: dir + ": ", // whatever the system says of a folder
	} {
		want(t, failures(func(f testing.TB) {
			slabtest.Open(f, line)
			t.Error("the test goes on")
		}), part)
	}
}

// The pool is closed by the test's end, and what Close says is told, without the leaks once more.
func TestOpenCloses(t *testing.T) {
	var p *slab.Pool
	var b slab.PooledBuffer
	f := new(fake)
	got := f.run(func(t testing.TB) {
		p = slabtest.Open(t, "check=true,record="+os.DevNull)
		b = get(t, p, 10)
	})
	want(t, got, "1 buffer of 10 bytes was not released", "!closing pool")
	if _, err := p.Get(1); !errors.Is(err, slab.ErrClosed) {
		t.Error(err)
	}
	if f.helpers == 0 {
		t.Error("the failure is told of a line of this package")
	}
	b.Release()
}

// A finding of guard or check is told by Close alone.
func TestWhatCloseSaysIsTold(t *testing.T) {
	got := failures(func(t testing.TB) {
		p := slabtest.Open(t, "check=true")
		b := get(t, p, 10)
		m := b.Bytes()
		b.Release()
		m[0]++
	})
	want(t, got, "closing pool ", "something wrote at offset 0 of a block of 10 bytes")
}

// A test that has failed before has perhaps not come to its Release.
func TestAFailureBeforeIsSaid(t *testing.T) {
	var kept slab.PooledBuffer
	got := failures(func(t testing.TB) {
		kept = get(t, slabtest.Open(t, ""), 10)
		t.Fatal("something else")
	})
	if len(got) != 2 || !strings.Contains(got[1], "slabtest_test.go") || !strings.Contains(got[1], "The test had failed before") {
		t.Errorf("%q", got)
	}
	runtime.KeepAlive(kept)
}

// A test that closes its pool itself is looked at as well.
func TestAPoolThatTheTestCloses(t *testing.T) {
	var kept slab.PooledBuffer
	want(t, failures(func(t testing.TB) {
		p := slabtest.Open(t, "")
		kept = get(t, p, 10)
		_ = p.Close()
	}), "slabtest_test.go", "1 buffer of 10 bytes, still out")
	runtime.KeepAlive(kept)
}

// Where nothing is out the collector does not run.
func TestNothingOutCostsNoCollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC
	}
	before := collections()
	if got := failures(func(t testing.TB) { get(t, slabtest.Open(t, ""), 10).Release() }); got != nil {
		t.Error(got)
	}
	if n := collections() - before; n > 0 {
		t.Errorf("%d collections", n)
	}
}

// The examples of the documentation are tests, which pass.
func TestExamples(t *testing.T) {
	run = func(test func(*testing.T)) { t.Run("", test) }
	defer func() { run = nil }()
	ExampleOpen_table()
	ExampleOpen_parallel()
	ExampleNoLeaks()
}

// The examples have go test run their functions by these.
var (
	run  func(func(*testing.T))
	fuzz = func(func(*testing.F)) {}
)

func FuzzOpen(f *testing.F) {
	f.Add("hello")
	f.Fuzz(func(t *testing.T, message string) {
		if _, err := frame(slabtest.Open(t, "check=true"), message); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	p := slabtest.Open(b, "on_forget=return")
	for b.Loop() {
		get(b, p, 1000).Release()
	}
}

// The leaks of a test are told by the test, and not in the log as well.
func TestLeaksAreNotLogged(t *testing.T) {
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	var kept slab.PooledBuffer
	want(t, failures(func(t testing.TB) { kept = get(t, slabtest.Open(t, "name=quiet"), 10) }), "still out")
	if strings.Contains(log.String(), "quiet") {
		t.Errorf("log: %s", &log)
	}
	runtime.KeepAlive(kept)
}
