package slab

import (
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// What a hit calls is part of it: a call that is no longer inlined costs as much as the
// rest of its work.
func TestHitPathIsInlined(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector instruments every function")
	}
	if strconv.IntSize == 32 {
		t.Skip("atomic operations of 64 bits are calls there")
	}
	check.GoCommand(t)
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for file, calls := range map[string][]string{
		"get.go": {"percpu.(*Cache).Class", "percpu.(*Cache).Pin", "percpu.(*Cache).At",
			"percpu.(*ClassCache).Enter", "percpu.(*ClassCache).Top", "percpu.(*ClassCache).Take", "percpu.(*ClassCache).Leave", "percpu.(*Cache).Unpin", "handle.(*Slot).Lend", "handle.(*Slot).setOwner", "lend"},
		"buffer.go": {"handle.(*Slot).End", "handle.(*Slot).Owner", "handle.(*Slot).Simple", "handle.(*Slot).Class",
			"percpu.(*Cache).Pin", "percpu.(*Cache).At", "percpu.(*ClassCache).Push", "percpu.(*Cache).Unpin",
			"handle.(*Slot).Owns", "handle.(*Slot).Escape"},
	} {
		var inlined []string
		for line := range strings.Lines(string(out)) {
			if at, call, ok := strings.Cut(strings.TrimSpace(line), ": inlining call to "); ok && strings.HasPrefix(path.Base(at), file+":") { // the directory is that of a build before, if its output is cached
				inlined = append(inlined, call)
			}
		}
		for _, call := range calls {
			if !slices.Contains(inlined, call) {
				t.Errorf("%s: %s is not inlined", file, call)
			}
		}
	}
}
