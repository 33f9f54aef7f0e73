package slab

import (
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// The text of a LeakError adds leaks up by site: the ten with the most bytes, and how many
// more there are.
func TestLeakErrorAddsUpBySite(t *testing.T) {
	e := &LeakError{Pool: "api", Blocks: 4, Bytes: 1000, Leaks: []Leak{
		{Bytes: 300, Site: "b.go:1"}, {Bytes: 100, Site: "a.go:2"}, {Bytes: 350, Site: "a.go:2", Forgotten: true}, {Bytes: 250, Site: "c.go:3"}}}
	const want = `slab: pool api closed with 4 buffers of 1000 bytes out, not released
	450 bytes in 2 buffers got at a.go:2, 1 of them found forgotten
	300 bytes in 1 buffers got at b.go:1
	250 bytes in 1 buffers got at c.go:3`
	if e.Error() != want {
		t.Error(e)
	}
	for i := range 12 {
		e.Leaks = append(e.Leaks, Leak{Bytes: 1000 + i, Site: fmt.Sprintf("d.go:%d", i)})
	}
	lines := strings.Split(e.Error(), "\n")
	if len(lines) != 12 || lines[1] != "\t1011 bytes in 1 buffers got at d.go:11" || lines[10] != "\t1002 bytes in 1 buffers got at d.go:2" || lines[11] != "\tand 5 more sites" {
		t.Error(e)
	}
}

// It says how many sites are not listed, if there are any, and how to know the sites, if it knows none.
func TestALeakErrorSaysWhatItLeavesOut(t *testing.T) {
	for _, c := range []struct {
		e     LeakError
		lines int
		last  string
	}{
		{LeakError{}, 2, "with on_forget=report the pool knows where they were got"},
		{LeakError{leftBlocks: 1, leftBytes: 9}, 3, "with on_forget=report the pool knows where they were got"},
		{LeakError{leftBlocks: 1, leftBytes: 9, Leaks: make([]Leak, 1)}, 3, "1 more of 9 bytes are left to the collector by growpool, and are no leaks"},
		{LeakError{keepers: 1, Leaks: make([]Leak, 1)}, 3, "1 growpools, or others that keep buffers of it, are not closed and may have them"},
		{LeakError{Leaks: make([]Leak, 1)}, 2, "0 bytes in 1 buffers got at site 0"},
		{LeakError{Leaks: make([]Leak, 10)}, 11, "0 bytes in 1 buffers got at site 9"},
		{LeakError{Leaks: make([]Leak, 11)}, 12, "and 1 more sites"},
	} {
		for i := range c.e.Leaks {
			c.e.Leaks[i].Site = fmt.Sprint("site ", i)
		}
		lines := strings.Split(c.e.Error(), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); len(lines) != c.lines || last != c.last {
			t.Errorf("%d lines, the last %q, want %d and %q", len(lines), last, c.lines, c.last)
		}
	}
}

// A million leaks are no reason to wait: adding texts up took time by their square. What is
// allocated tells of that on a busy machine, too; it grows with the sites only.
func TestLeakErrorOfAMillionLeaks(t *testing.T) {
	e := &LeakError{Leaks: make([]Leak, 1_000_000)}
	for i := range e.Leaks {
		e.Leaks[i] = Leak{Bytes: i, Site: sites[i%len(sites)]}
	}
	var text string
	if n := testing.AllocsPerRun(1, func() { text = e.Error() }); n > 10_000 || len(text) > 2000 {
		t.Errorf("%v allocations for a text of %d bytes", n, len(text))
	}
}

var sites = func() (s [50]string) {
	for i := range s {
		s[i] = fmt.Sprintf("/home/somebody/src/example.com/program/internal/file.go:%d", i)
	}
	return s
}()

// A LeakError has many bytes in units, too.
func TestALeakErrorHasUnits(t *testing.T) {
	for bytes, want := range map[int64]string{
		1<<20 - 1: "of 1048575 bytes out", 123_456_789: "of 123456789 bytes (117.7 MiB) out", 3 << 40: "of 3298534883328 bytes (3.0 TiB) out",
		math.MaxInt64: "of 9223372036854775807 bytes (8.0 EiB) out", 1 << 20: "of 1048576 bytes (1.0 MiB) out",
		1<<30 - 1<<20: "(1023.0 MiB)", 1 << 30: "(1.0 GiB)", 1000 << 50: "(1000.0 PiB)",
	} {
		if text := (&LeakError{Pool: "p", Blocks: 1, Bytes: bytes}).Error(); !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
}

// getFor is a wrapper as programs have it.
//
//go:noinline
func getFor(t *testing.T, p *Pool, n int) PooledBuffer { return mustGet(t, p, n) }

// A Leak has the stack of its Get from the first call that is the program's, and texts name that and two more: where
// the first is in a function that only passes buffers on they differ.
func TestLeaksHaveStacks(t *testing.T) {
	p := openLine(t, "on_forget=report")
	a := getFor(t, p, 1000)
	b := getFor(t, p, 1000)
	for i, l := range p.Leaks() {
		frames := runtime.CallersFrames(l.Stack)
		first, _ := frames.Next()
		second, _ := frames.Next()
		third, _ := frames.Next()
		if at := fmt.Sprintf("%s:%d", first.File, first.Line); at != l.Site || !strings.HasSuffix(second.Function, ".getFor") ||
			!strings.HasSuffix(third.Function, "."+t.Name()) {
			t.Errorf("leak %d at %s: %s, %s, %s", i, l.Site, at, second.Function, third.Function)
		}
	}
	err := p.Close()
	if text := err.Error(); strings.Count(text, "1000 bytes in 1 buffers got at ") != 2 || strings.Count(text, "leak_test.go:") != 4 {
		t.Error(text)
	}
	releaseAll(t, []PooledBuffer{a, b})
}

// The first buffer of a place whose slice may end the program is told, before that can happen, with the words of the
// crash. On the heap, through With, and without a place after the first nothing is.
func TestTheFirstInQuarantineIsTold(t *testing.T) {
	for _, c := range []struct {
		line   string
		bytes  bool
		places int // of Gets that are told, of two
		site   string
	}{
		{"device=mmap", true, 1, "20000 bytes was never"},
		{"device=mmap,on_forget=report", true, 2, "leak_test.go:"},
		{"device=mmap,strategy=bestfit", true, 1, "20000 bytes was never"},
		{"device=mmap", false, 0, ""},
		{"device=heap", true, 0, ""},
	} {
		log := &lineLog{}
		conf := check.Ok(ParseConfig(c.line))(t)
		conf.Logger = slog.New(slog.NewTextHandler(log, nil))
		told := make(chan string, 10)
		conf.Hooks = &Hooks{Leaked: func(string, Leak) { told <- "" }}
		p := check.Ok(OpenConfig(conf))(t)
		for range 2 {
			forgetAt(t, p, c.bytes)
		}
		func() { useOnce(getFor(t, p, 20_000), c.bytes) }()
		for range 3 {
			for done := false; !done; {
				runtime.GC()
				select {
				case <-told:
					done = true
				default:
					runtime.Gosched()
				}
			}
		}
		_, text := log.warnings()
		if n := strings.Count(text, "unexpected fault address"); n != c.places || !strings.Contains(text, c.site) {
			t.Errorf("%s, slices %v: told %d times, want %d: %s", c.line, c.bytes, n, c.places, text)
		}
		if hint := strings.Contains(text, "with on_forget=report"); hint != (c.places == 1) {
			t.Errorf("%s: says how to see the place: %v: %s", c.line, hint, text)
		}
		check.Must(t, p.Close())
	}
}

//go:noinline
func forgetAt(t *testing.T, p *Pool, bytes bool) { useOnce(mustGet(t, p, 20_000), bytes) }

func useOnce(b PooledBuffer, bytes bool) {
	if bytes {
		b.Bytes()[0] = 1
	} else {
		_ = b.With(func(m []byte) { m[0] = 1 })
	}
}
