package slab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
)

// useAll calls what takes the locks of a pool.
func useAll(t *testing.T, p *Pool) {
	t.Helper()
	mustRelease(t, mustGet(t, p, 100))
	p.Stats()
	p.Leaks()
	p.FreeHeld()
}

func TestHookOfOutOfMemory(t *testing.T) {
	var p *Pool
	var told *OutOfMemoryError
	p = openPool(t, "heap", Config{Name: "api", MaxBytes: 1 << 20, Hooks: &Hooks{OutOfMemory: func(e *OutOfMemoryError) {
		told = e
		useAll(t, p)
	}}})
	_, err := p.Get(2 << 20)
	if err != error(told) || told.Pool != "api" || told.Size != 2<<20 || p.Stats().Failed != 1 {
		t.Errorf("%v, but the hook was told %v, %+v", err, told, p.Stats())
	}
	if _, err := p.Get(-1); err == nil || p.Stats().Failed != 1 {
		t.Errorf("%v counts as out of memory", err)
	}
}

// A wait that is given up is no failure.
func TestACancelledWaitDoesNotCountAsFailed(t *testing.T) {
	calls := 0
	p := openPool(t, "heap", Config{MaxBytes: 1 << 20, Hooks: &Hooks{OutOfMemory: func(*OutOfMemoryError) { calls++ }}})
	b := mustGet(t, p, 900<<10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var wait *WaitError
	if _, err := p.GetContext(ctx, 900<<10); !errors.As(err, &wait) || calls != 0 || p.Stats().Failed != 0 {
		t.Errorf("%v, %d calls, %+v", err, calls, p.Stats())
	}
	mustRelease(t, b)
}

// A GetOn that finds memory which waits for another stream has not failed, though there was
// no room at first.
func TestGetOnFailsOnceOrNotAtAll(t *testing.T) {
	calls := 0
	p := mustOpen(t, openDevice(t, "sim:1MiB"), Config{Strategy: "direct", Hooks: &Hooks{OutOfMemory: func(*OutOfMemoryError) { calls++ }}})
	on, other := &queue{}, &queue{}
	b := mustGet(t, p, 900<<10)
	if err := errors.Join(b.UsedOn(other), b.Release()); err != nil {
		t.Fatal(err)
	}
	b, err := p.GetOn(300<<10, on)
	if err != nil || calls != 0 || p.Stats().Failed != 0 {
		t.Errorf("%v, %d calls, %+v", err, calls, p.Stats())
	}
	if _, err := p.GetOn(900<<10, on); !errors.Is(err, device.ErrOutOfMemory) || calls != 1 || p.Stats().Failed != 1 {
		t.Errorf("%v, %d calls, %+v", err, calls, p.Stats())
	}
	mustRelease(t, b)
}

func TestHookOfTrim(t *testing.T) {
	var p *Pool
	var told []int64
	p = openPool(t, "heap", Config{Name: "api", Hooks: &Hooks{Trimmed: func(pool string, n int64) {
		if pool != "api" {
			t.Errorf("pool %q", pool)
		}
		told = append(told, n)
		useAll(t, p)
	}}})
	p.Trim(0)
	mustRelease(t, mustGet(t, p, 1<<20))
	n := p.Trim(0)
	if s := p.Stats(); n < 1<<20 || len(told) != 1 || told[0] != n || s.Trims != 2 || s.TrimmedBytes != n {
		t.Errorf("%d bytes trimmed, the hook was told %d, %+v", n, told, s)
	}
}

// What the clock gives back counts and is told as what Trim does.
func TestHookOfTheClock(t *testing.T) {
	told := make(chan int64)
	p := openPool(t, "heap", Config{Idle: time.Millisecond, Hooks: &Hooks{Trimmed: func(_ string, n int64) { told <- n }}})
	mustRelease(t, mustGet(t, p, 1<<20))
	n := <-told
	if s := p.Stats(); n < 1<<20 || s.TrimmedBytes < n || s.Trims == 0 {
		t.Errorf("%d, %+v", n, s)
	}
}

func TestHookOfDoubleRelease(t *testing.T) {
	var p *Pool
	var told []int
	hooks := &Hooks{DoubleRelease: func(pool string, n int) {
		if pool != "api" {
			t.Errorf("pool %q", pool)
		}
		told = append(told, n)
		useAll(t, p)
	}}
	p = openPool(t, "heap", Config{Name: "api", Hooks: hooks})
	b := mustGet(t, p, 77)
	mustRelease(t, b)
	if err := b.Release(); !errors.Is(err, ErrReleased) || len(told) != 1 || told[0] != 77 {
		t.Errorf("%v, told %d", err, told)
	}
	p = openPool(t, "heap", Config{Name: "api", Strict: true, Hooks: hooks})
	b = mustGet(t, p, 78)
	mustRelease(t, b)
	if what := panicOf(func() { b.Release() }); !strings.Contains(what, "twice") || len(told) != 2 || told[1] != 78 {
		t.Errorf("%q, told %d", what, told)
	}
}

func TestHookOfLeaks(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "sim"} {
		for _, report := range []string{"", "report"} {
			t.Run(dev+report, func(t *testing.T) {
				var p *Pool
				told := make(chan Leak, 10)
				p = openPool(t, dev, Config{Name: "api", OnForget: report, Hooks: &Hooks{Leaked: func(pool string, l Leak) {
					if pool != "api" {
						t.Errorf("pool %q", pool)
					}
					useAll(t, p)
					told <- l
				}}})
				forgetOne(t, p, 100<<10, nil)
				forgetOne(t, p, 200<<10, nil)
				if !collect(p, func(s Stats) bool { return s.Forgotten == 2 }) {
					t.Fatalf("%+v", p.Stats())
				}
				bytes := 0
				for range 2 {
					l := <-told
					bytes += l.Bytes
					if !l.Forgotten || strings.Contains(l.Site, "support_test.go:") != (report != "") {
						t.Errorf("%+v", l)
					}
				}
				if bytes != 300<<10 {
					t.Errorf("%d bytes", bytes)
				}
			})
		}
	}
}

// A part that is forgotten beside other handles is told by itself, off the heap.
func TestHookOfLeakedParts(t *testing.T) {
	told := make(chan Leak, 10)
	p := openPool(t, "mmap", Config{Hooks: &Hooks{Leaked: func(_ string, l Leak) { told <- l }}})
	b := mustGet(t, p, 100<<10)
	forgetPart(t, b, within)
	if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
		t.Fatalf("%+v", p.Stats())
	}
	if l := <-told; !l.Forgotten || l.Bytes == 0 {
		t.Errorf("%+v", l)
	}
	mustRelease(t, b)
}

// The panic of a hook reaches the caller, and leaves the pool as it was.
func TestPanicsOfHooksPassThrough(t *testing.T) {
	p := openPool(t, "heap", Config{MaxBytes: 4 << 20, Hooks: &Hooks{
		OutOfMemory:   func(*OutOfMemoryError) { panic("no room") },
		Trimmed:       func(string, int64) { panic("trimmed") },
		DoubleRelease: func(string, int) { panic("twice") },
	}})
	b := mustGet(t, p, 1<<20)
	for want, f := range map[string]func(){
		"no room": func() { p.Get(8 << 20) },
		"twice": func() {
			c := mustGet(t, p, 100)
			mustRelease(t, c)
			c.Release()
		},
		"trimmed": func() {
			mustRelease(t, mustGet(t, p, 100))
			p.Trim(0)
		},
	} {
		if got := panicOf(f); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
	if s := p.Stats(); s.ActiveBlocks != 1 || s.ActiveBytes != 1<<20 || s.Failed != 1 || s.DoubleReleases != 1 {
		t.Errorf("%+v", s)
	}
	mustRelease(t, b)
	checkQuiet(t, p)
}

func TestLoggerGetsWarningsAndErrorsWithTheName(t *testing.T) {
	var text bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&text, nil))
	if _, err := Open(openFussy(t, 1, true), Config{Name: "api", Logger: logger}); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); !strings.Contains(s, "level=WARN") || !strings.Contains(s, "pool=api") || !strings.Contains(s, "first used") {
		t.Error(s)
	}
	lines := make(chan string, 1)
	p := openPool(t, "heap", Config{Name: "api", Check: true, Logger: slog.New(slog.NewTextHandler(lineWriter(lines), nil))})
	written(t, p, 50_000, 7)
	p.FreeHeld()
	if s := <-lines; !strings.Contains(s, "level=ERROR") || !strings.Contains(s, "pool=api") || !strings.Contains(s, "while it was free") {
		t.Error(s)
	}
}

type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) { w <- string(p); return len(p), nil }

// Text leaves hooks and logger alone.
func TestHooksAndLoggerAreNoText(t *testing.T) {
	c := Config{Strict: true, Hooks: &Hooks{}, Logger: slog.Default()}
	text, err := json.Marshal(c)
	if err != nil || string(text) != `{"strict":true}` || c.String() != "strict=true" || c.Validate() != nil {
		t.Errorf("%s, %s, %v", text, c, err)
	}
	want := Config{Zero: true, Hooks: c.Hooks, Logger: c.Logger}
	if err := json.Unmarshal([]byte(`{"zero":true}`), &c); err != nil || c != want {
		t.Errorf("%+v, %v", c, err)
	}
}

// Collections counts those that the pool has run.
func TestCollectionsAreThoseOfThePool(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "exact", GCTrigger: 1 << 20})
	if n := p.Stats().Collections; n != 0 {
		t.Fatalf("%d collections", n)
	}
	cycle() // a collection, and not the pool's
	if n := p.Stats().Collections; n != 0 {
		t.Fatalf("%d collections", n)
	}
	forgetOne(t, p, 2<<20, nil)
	mustRelease(t, mustGet(t, p, 1)) // which finds that too much is out
	if n := p.Stats().Collections; n != 1 {
		t.Errorf("%d collections", n)
	}
}

// panicOf returns the text of f's panic.
func panicOf(f func()) (what string) {
	defer func() { what = fmt.Sprint(recover()) }()
	f()
	return ""
}

// Hooks of what goes back are called for a byte, and not for none.
func TestHooksOfNothing(t *testing.T) {
	var told []int64
	tell := func(_ string, n int64) { told = append(told, n) }
	h := &Hooks{Trimmed: tell, Pressure: func(pool string, n int64, _ string) { tell(pool, n) }}
	for n := range int64(2) {
		h.trimmed("", n)
		h.pressure("", n, "")
	}
	if !slices.Equal(told, []int64{1, 1}) {
		t.Errorf("told of %v", told)
	}
}
