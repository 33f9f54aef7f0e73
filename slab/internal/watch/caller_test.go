package watch

import (
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"
)

// Frames of package slab, and of ours that hand its buffers on, are no place where a program got one.
func TestOwnFrames(t *testing.T) {
	const here = "github.com/bufslab/bufslab/"
	for f, want := range map[runtime.Frame]bool{
		{Function: here + "slab.(*Pool).Get", File: "pool.go"}:                         true,
		{Function: here + "slab/internal/percpu.(*Cache).Retry", File: "refill.go"}:    true,
		{Function: here + "adapt.New", File: "adapt.go"}:                               true,
		{Function: here + "slab.TestOwnFrames", File: "profile_test.go"}:               false,
		{Function: here + "growpool.Get[...]", File: "miss.go"}:                        true,
		{Function: here + "unified.(*Pool).get", File: "pool.go"}:                      true,
		{Function: here + "iobuf.(*Buffer).Write", File: "write.go"}:                   true,
		{Function: here + "fuzz.CheckPool", File: "pool.go"}:                           false,
		{Function: "example.com/vendor/" + here + "slab.(*Pool).Get", File: "pool.go"}: true,
		{Function: "main.main", File: "main.go"}:                                       false,
	} {
		if IsHidden(f) != want {
			t.Errorf("%s: hidden is not %t", f.Function, want)
		}
	}
}

// A place is the first call and the two around it, and the program's own where those are of modules that it requires.
func TestPlacesOfOtherModules(t *testing.T) {
	for want, at := range map[string][]string{
		"":                                     nil,
		"a.go:1":                               {"a.go:1"},
		"a.go:1, called at b.go:2, c.go:3":     {"a.go:1", "b.go:2", "c.go:3", "d.go:4"},
		"/m@v1/a.go:1, called at /m@v1/b.go:2": {"/m@v1/a.go:1", "/m@v1/b.go:2"},
		"/m@v1/a.go:1, called at b.go:2, /m@v1/c.go:3":                                   {"/m@v1/a.go:1", "b.go:2", "/m@v1/c.go:3", "d.go:4"},
		"/m@v1/a.go:1, called at /m@v1/b.go:2, /vendor/c.go:3, in the program at e.go:5": {"/m@v1/a.go:1", "/m@v1/b.go:2", "/vendor/c.go:3", "/m@v1/d.go:4", "e.go:5", "f.go:6"},
		"/m@v1/a.go:1, called at /m@v1/b.go:2, /m@v1/c.go:3, in the program at d.go:4":   {"/m@v1/a.go:1", "/m@v1/b.go:2", "/m@v1/c.go:3", "d.go:4"},
		"/m@v1/a.go:1, called at /m@v1/b.go:2, /m@v1/c.go:3":                             {"/m@v1/a.go:1", "/m@v1/b.go:2", "/m@v1/c.go:3", "/m@v1/d.go:4"},
	} {
		if got := placeOf(at); got != want {
			t.Errorf("%s: %s", got, want)
		}
	}
}

// stack returns the calls that led to it.
func stack() []uintptr { return Here() }

// A stack begins where it was taken. Its site is the first call of the program, its places are no more than are asked
// for, and without a stack there is none.
func TestPlacesOfAStack(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	at := stack()
	all := places(at, math.MaxInt)
	if len(all) != 2 || SiteOf(at) != all[0] || !strings.HasSuffix(all[1], fmt.Sprintf("caller_test.go:%d", line+1)) || len(places(at, 1)) != 1 {
		t.Errorf("%s of %q", SiteOf(at), all)
	}
	if PlaceOf(at) != all[0]+", called at "+all[1] || SiteOf(nil) != "" || PlaceOf(nil) != "" || StackOf(nil) != "" {
		t.Errorf("%s, %q and %q without a stack", PlaceOf(at), SiteOf(nil), StackOf(nil))
	}
	lines := strings.Split(strings.TrimSpace(StackOf(at)), "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "github.com/bufslab/bufslab/slab/internal/watch.stack ") || !strings.HasSuffix(lines[0], all[0]) {
		t.Errorf("%q", lines)
	}
	if one := StackOf(at[:1]); one != lines[0]+"\n" && one != "\t"+lines[0]+"\n" {
		t.Errorf("of one call: %q", one)
	}
	if here := Caller(); !strings.Contains(here, "caller_test.go:") {
		t.Error(here)
	}
}

// A stack of the runtime's frames alone has the last of them as its place.
func TestAStackOfTheRuntime(t *testing.T) {
	at := Here()
	last := at[len(at)-1:]
	if place := SiteOf(last); !strings.Contains(place, "runtime/") {
		t.Errorf("%q", place)
	}
}

// An own stack has no hidden frames at its beginning, but at least one call.
func TestOwnStack(t *testing.T) {
	var at []uintptr
	l := LateLog{Log: func() *slog.Logger { at = Here(); return slog.New(slog.DiscardHandler) }}
	l.Error("")
	l.Flush()
	hidden := at[1:] // from Flush on
	at = OwnStack(hidden)
	f, _ := runtime.CallersFrames(at).Next()
	if len(at) != len(hidden)-1 || !strings.HasSuffix(f.Function, ".TestOwnStack") {
		t.Errorf("%d of %d calls, from %s on", len(at), len(hidden), f.Function)
	}
	for n, want := range []int{0, 1, 1, 2} {
		if at := OwnStack(hidden[:n]); len(at) != want {
			t.Errorf("%d calls of %d", len(at), n)
		}
	}
}
