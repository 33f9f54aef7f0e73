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
