package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bufslab/bufslab/slab"
)

// The processes that tests start are this one again: it does the task that it is told.
func TestMain(m *testing.M) {
	programs = append(programs, bad...)
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		main()
	}
	programs = programs[:len(programs)-len(bad)]
	os.Exit(m.Run())
}

// bad are programs that have to be noticed.
var bad = []program{
	{"leaky", "", 4, 4, leaky},
	{"wrong", "", 4, 4, func(j *job) error {
		return j.each(1, func(*client) error { return wrong(1, 2) })
	}},
	{"twice", "", 4, 4, twice},
	{"idle", "", 4, 4, func(*job) error { return nil }},
	{"panics", "", 4, 4, func(*job) error { panic("a bug") }},
}

// kept is what leaky does not give back, and the collector does not find.
var kept []block

func leaky(j *job) error {
	return j.each(1, func(*client) error {
		b, err := j.get(100_000)
		kept = append(kept, b)
		return err
	})
}

func twice(j *job) error {
	return j.each(1, func(*client) error {
		b, err := j.get(100_000)
		if err == nil {
			err = j.put(b)
		}
		if p, is := j.memory.(*ours); is {
			if p.put(b) != slab.ErrReleased {
				return wrong("a second release", "an error")
			}
		}
		return err
	})
}

// with runs f while a bad program is known, and no other.
func with(t *testing.T, name string, f func()) {
	t.Helper()
	defer func(all []program) { programs = all }(programs)
	for _, p := range bad {
		if p.name == name {
			programs = []program{p}
			f()
			return
		}
	}
	t.Fatalf("there is no %s", name)
}

func TestEveryProgramWorksAndGivesBack(t *testing.T) {
	var out, complaints bytes.Buffer
	if status := command([]string{"-smoke"}, &out, &complaints); status != 0 {
		t.Fatalf("status %d: %s", status, &complaints)
	}
	for _, p := range programs {
		if !strings.Contains(out.String(), p.name+" ran on pool, heap, mmap\n") {
			t.Errorf("%s did not run:\n%s", p.name, &out)
		}
	}
}

// The controls: each of these has to make the command fail, smoke or not.
func TestBadProgramsMakeTheCommandFail(t *testing.T) {
	for name, why := range map[string]string{
		"leaky":  "a leak: 4 buffers are out",
		"wrong":  "wrong answer: 1 instead of 2",
		"twice":  "4 released twice",
		"idle":   "nothing was done",
		"panics": "a bug",
	} {
		for _, args := range [][]string{{"-smoke", "-kinds", "heap"}, {"-rounds", "1", "-kinds", "heap"}} {
			with(t, name, func() {
				var out, complaints bytes.Buffer
				if status := command(args, &out, &complaints); status != 1 || !strings.Contains(complaints.String(), why) {
					t.Errorf("%s %v: status %d, %s", name, args, status, &complaints)
				}
			})
		}
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for _, line := range []string{"-rounds 0", "-write -smoke", "-write -programs json", "-write -kinds go", "-write -conf device=heap", "-programs nothing",
		"-kinds nothing", "-unknown", "-child nothing", "-child json -kind device=nothing -ops 1", "-child json -kind heap"} {
		var out, complaints bytes.Buffer
		if status := command(strings.Fields(line), &out, &complaints); status != 1 || complaints.Len() == 0 {
			t.Errorf("%s: status %d, %s", line, status, &complaints)
		}
	}
}

// A process is held against the replay of its recording: what it had more out than that it may manage, too.
func TestPromised(t *testing.T) {
	path := t.TempDir() + "/t.csv"
	if err := os.WriteFile(path, []byte("a,0,1000000\nf,0,1000000\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for active, want := range map[float64]float64{0: 1, 1_000_000: 1, 2_000_000: 0.5} {
		got, err := promised(path, "device=virtual,strategy=direct", figures{Managed: 1_000_000, Active: active})
		if err != nil || got.ratio() != want {
			t.Errorf("%v out: %v of the promise, %v", active, got.ratio(), err)
		}
	}
}

// A program that keeps its promise is a row, and no complaint. What so short a program keeps in caches is a large part
// of what it manages, and depends on time, so that no ratio that is worth asking for holds here.
func TestPromises(t *testing.T) {
	for most, want := range map[string]int{"100": 0, "0.001": 1} {
		var out, complaints bytes.Buffer
		status := command([]string{"-promise", "-programs", "numbers", "-part", "1000", "-rounds", "1", "-most", most}, &out, &complaints)
		if status != want || strings.Count(out.String(), "| numbers | ") != 2 || strings.Count(complaints.String(), "promises") != 2*want {
			t.Errorf("at most %s: status %d: %s%s", most, status, &out, &complaints)
		}
	}
}

// What is resident after a program is less than what was at most, as its pool has nothing to keep.
func TestSettled(t *testing.T) {
	f, err := task{"upload", "mmap", 20, time.Millisecond}.do()
	if runtime.GOOS != "linux" {
		if err == nil {
			t.Error("-settle did as if it worked here")
		}
		return
	}
	if err != nil || f.Trimmed <= 0 || f.Later <= 0 || f.Trimmed >= f.Resident {
		t.Errorf("%.0f bytes at most, %.0f after the trim, %.0f later: %v", f.Resident, f.Trimmed, f.Later, err)
	}
}
