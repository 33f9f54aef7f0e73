package slab

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/inside"
)

// leakLog closes a pool with a buffer active, and another found forgotten, and returns the log and the error.
func leakLog(t *testing.T, line string, end func(p *Pool) error) (string, error) {
	t.Helper()
	c, err := ParseConfig(line)
	check.Must(t, err)
	var text bytes.Buffer
	c.Logger = slog.New(slog.NewTextHandler(&text, nil))
	p, err := OpenConfig(c)
	check.Must(t, err)
	forgetOne(t, p, 100_000, nil)
	eventually(t, "a buffer is found forgotten", func() bool { p.FreeHeld(); cycle(); return p.Stats().Forgotten == 1 })
	b := mustGet(t, p, 5000)
	err = end(p)
	if again := end(p); again != nil {
		t.Error(again)
	}
	mustRelease(t, b)
	return text.String(), err
}

// A deferred Close, whose error nobody has, logs the leak once, with what was found forgotten before and how to see
// the places. The error has the same text.
func TestADeferredCloseLogsLeaks(t *testing.T) {
	for _, line := range []string{"name=jobs", "device=mmap,name=jobs", "device=mmap,name=jobs,on_forget=report"} {
		text, err := leakLog(t, line, (*Pool).Close)
		var leak *LeakError
		if !errors.As(err, &leak) || leak.Blocks != 1 || leak.Bytes != 5000 {
			t.Fatal(err)
		}
		wants := []string{"level=WARN", "pool=jobs", "closed with 1 buffers of 5000 bytes out", "1 others were found forgotten before", "with on_forget=report"}
		if strings.Contains(line, "report") {
			wants = append(wants[:3], "close_leak_test.go:25", "close_leak_test.go:23, 1 of them found forgotten")
		}
		for _, want := range wants {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s: %q in %s", line, want, text)
			}
		}
	}
}

// Who reports leaks without the log gets the error alone. A pool without leaks logs nothing.
func TestClosesThatLogNothing(t *testing.T) {
	text, err := leakLog(t, "", func(p *Pool) error { return inside.Close(p) })
	if leak := (*LeakError)(nil); !errors.As(err, &leak) || text != "" {
		t.Errorf("%v; log: %s", err, text)
	}
	var log bytes.Buffer
	p, err := OpenConfig(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	check.Must(t, err)
	mustRelease(t, mustGet(t, p, 5000))
	if check.Must(t, p.Close()); log.Len() > 0 {
		t.Errorf("log: %s", &log)
	}
}

// What growpool has left to the collector is no leak, and counts apart.
func TestWhatIsLeftToTheCollectorIsNoLeak(t *testing.T) {
	p := openLine(t, "device=mmap")
	a, b := mustGet(t, p, 100), mustGet(t, p, 200)
	left := &p.pool.left
	left.Blocks.Store(1)
	left.Bytes.Store(100)
	var leak *LeakError
	if err := p.pool.leakError(p.Stats()); !errors.As(err, &leak) || leak.Blocks != 1 || leak.Bytes != 200 {
		t.Errorf("%+v", leak)
	}
	left.Bytes.Store(300)
	if err := p.pool.leakError(p.Stats()); !errors.As(err, &leak) || leak.Blocks != 1 || leak.Bytes != 0 {
		t.Errorf("one buffer of no bytes: %+v", leak)
	}
	left.Blocks.Store(2)
	if err := p.pool.leakError(p.Stats()); err != nil {
		t.Errorf("all is left: %v", err)
	}
	releaseAll(t, []PooledBuffer{a, b})
	check.Must(t, p.Close())
}

// A keeper that is nil is found at once, not in a later Get of another goroutine.
func TestANilKeeperPanicsAtOnce(t *testing.T) {
	p := openLine(t, "")
	wantPanic(t, "slab: AddReclaimer of nil", func() { p.AddReclaimer(nil) })
	check.Must(t, p.Close())
}

// Close has keepers release what is idle: that is no leak. If a keeper has more, the text says that it is not closed.
func TestCloseAsksKeepers(t *testing.T) {
	p := openLine(t, "device=mmap")
	k := &oneKeeper{b: mustGet(t, p, 5000)}
	p.AddReclaimer(k)
	if err := p.Close(); err != nil || !k.released {
		t.Error(err)
	}
	p = openLine(t, "device=mmap")
	k = &oneKeeper{b: mustGet(t, p, 5000)}
	p.AddReclaimer(k)
	b := mustGet(t, p, 10)
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "1 growpools, or others that keep buffers of it, are not closed") {
		t.Error(err)
	}
	mustRelease(t, b)
}
