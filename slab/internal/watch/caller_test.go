package watch

import (
	"runtime"
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
		"/m@v1/a.go:1, called at /m@v1/b.go:2, /m@v1/c.go:3":                             {"/m@v1/a.go:1", "/m@v1/b.go:2", "/m@v1/c.go:3", "/m@v1/d.go:4"},
	} {
		if got := placeOf(at); got != want {
			t.Errorf("%s: %s", got, want)
		}
	}
}
