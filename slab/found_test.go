package slab

import (
	"strings"
	"testing"
)

// Off the heap blocks of more than 4 KiB are watched. So is all device memory, and with report everything.
func TestWhichBlocksAreWatched(t *testing.T) {
	for c, want := range map[Config][2]int{
		{Device: "mmap"}:                         {4097, 1},
		{Device: "mmap:fixed", OnForget: "free"}: {4097, 1},
		{Device: "cuda:0"}:                       {4097, 1},
		{Device: "virtual:1GiB"}:                 {4097, 4097},
		{Device: "mmap", OnForget: "report"}:     {1, 1},
		{Device: "virtual", OnForget: "report"}:  {1, 1},
	} {
		if reachable, unreachable := watchFrom(c); reachable != want[0] || unreachable != want[1] {
			t.Errorf("%+v: from %d and %d bytes, want %d", c, reachable, unreachable, want)
		}
	}
}

// The error of a Get names no forgotten buffers where nothing is out.
func TestNothingThatIsOutIsNotForgotten(t *testing.T) {
	for _, line := range []string{"device=heap,max_bytes=1MiB", "device=mmap,max_bytes=1MiB"} {
		p := openLine(t, line)
		if text := wantFull(t, p, 2<<20).Error(); !strings.Contains(text, "0 active") || strings.Contains(text, "on_forget") {
			t.Errorf("%s: %s", line, text)
		}
	}
}
