package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// of returns the path of a steady trace of a pool on a device.
func of(t *testing.T, device string) string {
	header, rows, _ := strings.Cut(string(check.Ok(os.ReadFile(steady(t, 150)))(t)), "\n")
	return file(t, header+"\nd,"+device+",\n"+rows)
}

// The device of the recording is judged, and every line has it. What pools on page-locked memory promise holds there.
func TestTuneJudgesTheDeviceOfTheRecording(t *testing.T) {
	for _, device := range []string{"heap", "mmap", "sim:64MiB:pinned"} {
		path := of(t, device)
		scores, found := tuned(t, path)
		for line := range scores {
			if !strings.HasPrefix(line+",", "device="+device+",") {
				t.Errorf("%s: tried %q", device, line)
			}
		}
		if _, want := tuned(t, "-config", "device="+device, steady(t, 150)); found.Chosen != want.Chosen {
			t.Errorf("%s: chose %+v, where the device is named %+v", device, found.Chosen, want.Chosen)
		}
		code, out, stderr := command("tune", path)
		if code != exitOK || strings.Contains(out, "virtual") || !strings.Contains(out, "bufslab verify \"device="+device) {
			t.Errorf("%s: exit %d: %s%s", device, code, out, stderr)
		}
	}
}

// A line that names a device is judged there, as text and as JSON.
func TestTuneKeepsTheDeviceOfTheLine(t *testing.T) {
	for _, line := range []string{"device=mmap,strategy=exact", `{"device":"mmap","strategy":"exact"}`} {
		scores, _ := tuned(t, "-config", line, of(t, "heap"))
		for line := range scores {
			if !strings.HasPrefix(line, "device=mmap,strategy=exact") {
				t.Errorf("%q", line)
			}
		}
	}
	for _, line := range []string{"strategy=exact", `{"strategy":"exact"}`} {
		scores, _ := tuned(t, "-config", line, of(t, "heap"))
		if _, is := scores["device=heap,strategy=exact"]; !is {
			t.Errorf("%s: tried %v", line, scores)
		}
	}
}

// Where a recording names no device, or one that is not here, tune and verify judge device=virtual, and say so. Recordings
// of several devices are refused.
func TestJudgedOnVirtual(t *testing.T) {
	stats := statsFile(t, map[string]int64{"peak_managed_bytes": 1})
	for path, why := range map[string]string{
		steady(t, 300):   "small.csv does not name its device, so this is judged on device=virtual. Name yours in the line.\n",
		of(t, "tape:0"):  "small.csv is of device=tape:0, which is not here (",
		of(t, "a;\tb=c"): "small.csv is of device=a;\tb=c, which is not here (",
	} {
		for _, args := range [][]string{{"tune", path}, {"verify", "strategy=slab", stats, path}} {
			if code, out, stderr := command(args...); code != exitOK || !strings.Contains(out, why) || !strings.Contains(out, "judged on device=virtual.") || stderr != "" {
				t.Errorf("%q: exit %d: %s%s", args, code, out, stderr)
			}
		}
		code, out, stderr := command("tune", "-json", path) // whose lines are objects alone
		if code != exitOK || strings.Contains(out, "judged") || !strings.HasPrefix(stderr, "bufslab: warning: ") ||
			!strings.Contains(stderr, why) {
			t.Errorf("exit %d: %s%s", code, out, stderr)
		}
	}
	for _, other := range []string{of(t, "mmap"), steady(t, 300)} {
		if code, _, stderr := command("tune", of(t, "heap"), other); code != exitBad || !strings.Contains(stderr, "name the device in the line") {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
	if code, _, stderr := command("tune", of(t, "heap"), of(t, "heap")); code != exitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// verify takes a line in each form that ParseConfig takes, and adds the device of the recording to it.
func TestVerifyAddsTheDeviceToEachForm(t *testing.T) {
	stats, path := statsFile(t, map[string]int64{"peak_managed_bytes": 1}), of(t, "heap")
	for text, want := range map[string]string{
		"strategy=exact":         "device=heap,strategy=exact",
		" strategy=exact ":       "device=heap,strategy=exact",
		`{"strategy":"exact"}`:   `{"device":"heap","strategy":"exact"}`,
		`{}`:                     `{"device":"heap"}`,
		"":                       "device=heap",
		" ":                      "device=heap",
		`{"device":"mmap"}`:      `{"device":"mmap"}`,
		" device=mmap,zero=true": " device=mmap,zero=true",
	} {
		code, out, stderr := command("verify", "-json", text, stats, path)
		var v verdict
		if code == exitOK {
			check.Must(t, json.Unmarshal([]byte(out), &v))
		}
		if code != exitOK || v.Config != want {
			t.Errorf("%q: exit %d on %q, want %q: %s", text, code, v.Config, want, stderr)
		}
	}
}
