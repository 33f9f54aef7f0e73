package slab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// memoryGroup makes a group of version 1 with such a limit, which kills, and returns its folder.
func memoryGroup(t *testing.T, limit int64) string {
	t.Helper()
	own := ""
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 && f[1] == "memory" {
			own = f[2]
		}
	}
	if own == "" {
		t.Skip("no group of version 1 can be made: the process is in none")
	}
	dir := filepath.Join("/sys/fs/cgroup/memory", own, fmt.Sprintf("bufslab-%d-%d", os.Getpid(), time.Now().UnixNano()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("no group of version 1 can be made: ", err)
	}
	t.Cleanup(func() {
		for range 100 { // its last process may be ending
			if os.Remove(dir) == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "memory.limit_in_bytes"), fmt.Append(nil, limit), 0); err != nil {
		t.Skip("the limit of a group cannot be set: ", err)
	}
	return dir
}

const podTime = time.Minute // beyond that it hangs

// A run of a child in a group.
type podRun struct {
	killed bool
	after  time.Duration // from the time that the group was nearly full to memory going back
	steps  int64
}

// runInGroup runs a test as a child, with BUFSLAB_POD naming a group of so many MiB. It reports whether the system has
// killed the child, and returns what it has printed.
func runInGroup(t *testing.T, mib int64, name string, env ...string) (out []byte, killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), podTime)
	defer cancel()
	check.StartsItself(t)
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+name+"$", "-test.v")
	cmd.WaitDelay = time.Second
	cmd.Env = append(append(os.Environ(), "BUFSLAB_POD="+memoryGroup(t, mib<<20)), env...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil { // a full group may have its processes wait for memory instead of killing one
		t.Logf("%v: the child had not ended after %v", env, podTime)
		return nil, false
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return out, true
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out, false
}

// runPod runs the child of a test in a group of so many MiB.
func runPod(t *testing.T, mib int64, name, pressure, rate string, heap int) (r podRun) {
	t.Helper()
	out, killed := runInGroup(t, mib, name, "BUFSLAB_POD_PRESSURE="+pressure, "BUFSLAB_POD_RATE="+rate, "BUFSLAB_POD_HEAP="+strconv.Itoa(heap))
	if killed {
		return podRun{killed: true}
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "POD "); ok {
			var ns int64
			if _, err := fmt.Sscan(rest, &ns, &r.steps); err != nil {
				t.Fatal(err)
			}
			r.after = time.Duration(ns)
		}
	}
	return r
}

// pod is the child: a pool that wants 15/16 of the group off the heap for a moment and then little, beside a heap
// that grows by so many MiB a second; 0 is as fast as it can.
func pod(t *testing.T, dir string) {
	check.Must(t, os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0))
	gave := make(chan time.Time, 64)
	p, err := OpenConfig(Config{Device: "mmap", Pressure: os.Getenv("BUFSLAB_POD_PRESSURE") == "on", Name: "pod",
		Hooks: &Hooks{Pressure: func(_ string, n int64, _ string) {
			select {
			case gave <- time.Now():
			default:
			}
		}}})
	check.Must(t, err)
	var out []PooledBuffer
	limit := number(t, strings.TrimSpace(string(mustRead(t, filepath.Join(dir, "memory.limit_in_bytes")))))
	for range limit >> 20 * 15 / 16 {
		b := mustGet(t, p, 1<<20)
		device.Fill(b.Bytes(), 1)
		out = append(out, b)
	}
	full := time.Now() // beyond 9/10 of the group
	releaseAll(t, out)
	rate, _ := strconv.Atoi(os.Getenv("BUFSLAB_POD_RATE"))
	most, _ := strconv.Atoi(os.Getenv("BUFSLAB_POD_HEAP"))
	var heap [][]byte
	for begin := time.Now(); len(heap) < most; {
		if rate > 0 {
			time.Sleep(time.Until(begin.Add(time.Duration(len(heap)) * time.Second / time.Duration(rate))))
		}
		m := make([]byte, 1<<20)
		device.Fill(m, 2)
		heap = append(heap, m)
	}
	var first time.Time
	select {
	case first = <-gave:
	default:
		first = full
	}
	fmt.Println("POD", int64(first.Sub(full)), p.Stats().PressureSteps)
	check.Must(t, p.Close())
}

// A process in a group of 256 MiB whose pool had 240 MiB, and whose heap grows after that, is killed
// without pressure=on, and lives with it.
func TestPressureInAGroup(t *testing.T) {
	if dir := os.Getenv("BUFSLAB_POD"); dir != "" {
		pod(t, dir)
		return
	}
	if raceEnabled || sanitized {
		t.Skip("the sanitizer takes memory of its own")
	}
	atLength(t)
	if !runPod(t, 256, t.Name(), "off", "40", 20).killed {
		t.Skip("a group of version 1 does not kill here")
	}
	if r := runPod(t, 256, t.Name(), "on", "40", 20); r.killed || r.steps == 0 {
		t.Errorf("%+v with pressure=on", r)
	}
}

// How often a process is killed in 20 runs, with pressure=on and without, at several rates of the heap.
func TestKillsInAGroup(t *testing.T) {
	if dir := os.Getenv("BUFSLAB_POD"); dir != "" {
		pod(t, dir)
		return
	}
	if os.Getenv("BUFSLAB_STRESS") == "" {
		t.Skip("it takes a minute or more: set BUFSLAB_STRESS")
	}
	for _, rate := range []string{"100", "500", "1000", "0"} {
		for _, pressure := range []string{"off", "on"} {
			killed := 0
			var after []time.Duration
			for range 20 {
				if r := runPod(t, 512, t.Name(), pressure, rate, 192); r.killed {
					killed++
				} else {
					after = append(after, r.after)
				}
			}
			slices.Sort(after)
			text := ""
			if len(after) > 0 && pressure == "on" {
				text = fmt.Sprintf("; from full to the first memory given back: median %v, most %v", after[len(after)/2], after[len(after)-1])
			}
			t.Logf("heap at %s MiB/s, pressure=%s: %d of 20 killed%s", rate, pressure, killed, text)
		}
	}
}

// What a watcher costs while nothing happens: processor time of a process that sleeps for a minute.
func TestIdleCost(t *testing.T) {
	if os.Getenv("BUFSLAB_STRESS") == "" {
		t.Skip("it takes two minutes: set BUFSLAB_STRESS")
	}
	if !inChild(t) {
		return
	}
	idle := func() time.Duration {
		var a, b unix.Rusage
		check.Must(t, unix.Getrusage(unix.RUSAGE_SELF, &a))
		time.Sleep(time.Minute)
		check.Must(t, unix.Getrusage(unix.RUSAGE_SELF, &b))
		return time.Duration(b.Utime.Nano() + b.Stime.Nano() - a.Utime.Nano() - a.Stime.Nano())
	}
	without := idle()
	p := openLine(t, "device=mmap,pressure=on")
	mustRelease(t, mustGet(t, p, 64<<20))
	with := idle()
	check.Must(t, p.Close())
	if share := float64(with-without) / float64(time.Minute); share > 0.001 {
		t.Errorf("%v with the watcher and %v without: %.3f %% of a processor", with, without, 100*share)
	}
	t.Logf("%v with the watcher and %v without", with, without)
}
