package slab

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A pool with huge pages takes and gives back whole ones; one with small pages works as any.
func TestPages(t *testing.T) {
	for pages, unit := range map[string]int64{"huge": 2 << 20, "small": 4096} {
		for _, s := range []string{"slab", "bestfit"} {
			p, err := OpenConfig(Config{Device: "mmap", Strategy: s, Pages: pages})
			if errors.Is(err, device.ErrUnavailable) {
				t.Skip("the system cannot be told what pages to use: ", err)
			}
			check.Must(t, err)
			if p.Device().Name() != "mmap:"+pages {
				t.Error(p.Device().Name())
			}
			var out []PooledBuffer
			for i := range 300 {
				b := mustGet(t, p, 10_000+i*100)
				device.Fill(b.Bytes(), byte(i))
				out = append(out, b)
			}
			if m := p.Stats().ManagedBytes; m%unit != 0 || m == 0 {
				t.Errorf("%s: %d bytes with %s pages", s, m, pages)
			}
			for i, b := range out {
				checkPaint(t, b.Bytes(), byte(i), i)
			}
			releaseAll(t, out[:150])
			p.FreeHeld()
			if m := p.Stats().ManagedBytes; m%unit != 0 {
				t.Errorf("%s: %d bytes after a part went back", s, m)
			}
			releaseAll(t, out[150:])
			p.FreeHeld()
			if m := p.Stats().ManagedBytes; m != 0 {
				t.Errorf("%s: %d bytes are left", s, m)
			}
			check.Must(t, p.Close())
		}
	}
}

// Only ranges on mmap have pages to choose.
func TestPagesConfig(t *testing.T) {
	for line, want := range map[string]string{
		"pages=huge,strategy=slab":              "device heap has no ranges of mmap",
		"device=mmap,pages=large":               "want huge, small",
		"device=mmap:fixed,pages=huge":          "mmap:fixed has no ranges",
		"device=mmap,strategy=exact,pages=huge": "strategy exact has no use for it",
		"device=mmap:small,pages=huge":          "is another than mmap:huge",
		"device=virtual,pages=small":            "virtual has no ranges of mmap",
		"device=mmap,pages=huge":                "",
		"device=mmap:huge,pages=huge":           "",
	} {
		_, err := ParseConfig(line)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := Open(openDevice(t, "mmap"), Config{Pages: "huge"}); err == nil || !strings.Contains(err.Error(), "is another than mmap:huge") {
		t.Error(err)
	}
}

// What pages cost and keep: 1 GiB in buffers of 64 KiB is used, 15 of each 16 go back. Faults, resident bytes
// then, at once and a minute later, in a process each.
func TestPagesFigures(t *testing.T) {
	if os.Getenv("BUFSLAB_STRESS") == "" {
		t.Skip("it takes three minutes and a GiB: set BUFSLAB_STRESS")
	}
	if pages := os.Getenv("BUFSLAB_PAGES"); pages != "" {
		pagesFigures(t, strings.TrimPrefix(pages, "as-it-is"))
		return
	}
	for _, pages := range []string{"as-it-is", "small", "huge"} {
		check.StartsItself(t)
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "BUFSLAB_PAGES="+pages)
		out, err := cmd.CombinedOutput()
		check.Must(t, err)
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "faults") {
				t.Logf("pages %s: %s", pages, strings.TrimSpace(line))
			}
		}
	}
}

func pagesFigures(t *testing.T, pages string) {
	p, err := OpenConfig(Config{Device: "mmap", Pages: pages})
	check.Must(t, err)
	base, before := resident(t), faultsNow(t)
	begin := time.Now()
	var out []PooledBuffer
	for range 16_384 {
		b := mustGet(t, p, 64<<10)
		device.Fill(b.Bytes(), 1)
		out = append(out, b)
	}
	took, faults, full := time.Since(begin), faultsNow(t)-before, resident(t)
	for i, b := range out {
		if i%16 != 0 {
			mustRelease(t, b)
		}
	}
	p.Trim(0)
	managed, atOnce := p.Stats().ManagedBytes, resident(t)
	time.Sleep(time.Minute)
	t.Logf("%d faults in %v; resident above the start: %d MiB full, of %d MiB managed %d MiB after the trim and %d MiB a minute later",
		faults, took.Round(time.Millisecond), (full-base)>>20, managed>>20, (atOnce-base)>>20, (resident(t)-base)>>20)
}

func faultsNow(t *testing.T) int64 {
	t.Helper()
	var u unix.Rusage
	check.Must(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return int64(u.Minflt)
}

func resident(t *testing.T) int64 {
	t.Helper()
	f := strings.Fields(string(mustRead(t, "/proc/self/statm")))
	return number(t, f[1]) * int64(os.Getpagesize())
}
