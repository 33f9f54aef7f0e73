package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of three blocks the middle one goes before a larger one comes: best fit leaves a hole of that
// size, a plan has none.
const holes = "a,0,65536\na,1,65536\na,2,65536\nf,1,65536\na,3,131072\nf,0,65536\nf,2,65536\nf,3,131072\n"

// A plan needs what the program has at most, and a replay with it calls the device once.
func TestPlanOfATrace(t *testing.T) {
	trace := file(t, holes)
	out := filepath.Join(t.TempDir(), "plan")
	code, text, stderr := command("plan", "-o", out, "-limit", "1s", trace)
	if code != exitOK || stderr != "" || text != out+": 256 KiB for 4 blocks, 1.0000 of the most live bytes\n" {
		t.Fatalf("exit %d: %s%s", code, text, stderr)
	}
	if plan, err := os.ReadFile(out); err != nil || strings.Count(string(plan), "\n") != 6 {
		t.Errorf("%q, %v", plan, err)
	}
	code, text, stderr = command("replay", "-json", "-config", "strategy=plan,plan="+out, trace)
	if code != exitOK || !strings.Contains(text, `"footprint_ratio":1,"upstream_allocs":1`) {
		t.Errorf("exit %d: %s%s", code, text, stderr)
	}
}

// Without -o the plan stands beside the trace, compressed.
func TestPlanBesideItsTrace(t *testing.T) {
	trace := file(t, small)
	code, text, stderr := command("plan", trace)
	beside := strings.TrimSuffix(trace, ".csv") + ".plan.gz"
	if code != exitOK || !strings.HasPrefix(text, beside+": ") {
		t.Errorf("exit %d: %s%s", code, text, stderr)
	}
	if code, _, stderr := command("replay", "-config", "strategy=plan,plan="+beside, trace); code != exitOK {
		t.Error(stderr)
	}
}

func TestPlanRefuses(t *testing.T) {
	trace := file(t, small)
	for args, want := range map[string]string{
		"":                            "plan wants one TRACE",
		trace + " " + trace:           "plan wants one TRACE",
		"-align 24 " + trace:          "want a power of two, 8 to 4096",
		"-limit 0s " + trace:          "want a time like 5s",
		file(t, "a,0,x\n"):            "small.csv:1: malformed row",
		file(t, "g,k,5\n"):            "a request to growpool",
		trace + "x":                   "no such file",
		"-o " + trace + "/x " + trace: "not a directory",
	} {
		code, _, stderr := command(append([]string{"plan"}, strings.Fields(args)...)...)
		wantCode := exitBad
		switch {
		case strings.HasPrefix(args, "-o"):
			wantCode = exitFailed
		case strings.Contains(want, "small.csv") || strings.Contains(want, "growpool") || strings.Contains(want, "file"):
			wantCode = exitInput
		}
		if code != wantCode || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q", args, code, stderr)
		}
	}
	if code, text, _ := command("plan", "-help"); code != exitOK || text != planHelp {
		t.Errorf("exit %d: %s", code, text)
	}
}
