//go:build unix

package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/bench/scale/counting"
	"github.com/bufslab/bufslab/slab"
)

// The model knows the closed forms: one lock that is all there is, and two processors at one lock.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		locks []station
		alone float64
		n     int
		want  float64
	}{
		{[]station{10}, 0, 5, 40},
		{[]station{10}, 90, 1, 0},
		{[]station{10}, 90, 2, 10 * 10. / 100},
		{[]station{5, 5}, 90, 2, 2 * 5 * 5. / 100},
		{nil, 100, 1000, 0},
	} {
		if got := waits(c.locks, c.alone, c.n); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v, %v, %d processors: %v, not %v", c.locks, c.alone, c.n, got, c.want)
		}
	}
}

// Half waits where the queue of the lock is as long as the work: 2 * 100 / 10, and the one processor that it serves.
func TestHalf(t *testing.T) {
	n := half([]station{10}, 90)
	if before, at := waits([]station{10}, 90, n-1), waits([]station{10}, 90, n); before >= 100 || at < 100 {
		t.Errorf("%d processors: %v ns, %v with one less", n, at, before)
	}
	if n < 15 || n > 22 {
		t.Errorf("%d processors, where the lock is full at 10 and the queue takes as long at 20", n)
	}
	if n := half(nil, 100); n != mostProcessors {
		t.Errorf("%d processors without a lock", n)
	}
}

// A churn touches what it was asked to, and gives all of it back.
func TestChurn(t *testing.T) {
	for _, percent := range []int{0, 10, 100} {
		p := slab.MustOpen("device=mmap")
		if err := churn(p, percent, 2000); err != nil {
			t.Error(err)
		}
		if n := p.Stats().ActiveBytes; n != 0 {
			t.Errorf("%d bytes are out", n)
		}
		p.Close()
	}
	if err := run(new(strings.Builder), "", "mmap", "101", 10); err == nil {
		t.Error("101 % were touched")
	}
}

// The overlay has the files with a mutex alone, with their lines at their numbers.
func TestReplaceLocks(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	with := write("slab/a.go", "package slab\n\nimport \"sync\"\n\nvar mu sync.Mutex\n")
	without := write("slab/b.go", "package slab\n")
	test := write("slab/a_test.go", "package slab\n\nimport \"sync\"\n\nvar nu sync.Mutex\n")
	name, err := replaceLocks(dir, root)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := os.ReadFile(name)
	for path, want := range map[string]bool{with: true, without: false, test: false} {
		if strings.Contains(string(list), `"`+path+`"`) != want {
			t.Errorf("%s: %s", path, list)
		}
	}
	got := strings.Split(string(withCounting([]byte("package slab\n\nimport \"sync\"\n\nvar mu sync.Mutex\n"))), "\n")
	if got[4] != "var mu counting.Mutex" {
		t.Errorf("%q", got)
	}
}

// Churn on the pools as they are built: the pool's lock is among those that were taken.
func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	overlay, err := replaceLocks(dir, "../..")
	if err != nil {
		t.Fatal(err)
	}
	b := builds{churn: filepath.Join(dir, "churn")}
	if err := compile(overlay, b.churn, "."); err != nil {
		t.Fatal(err)
	}
	w := work{"churn", 2000, "0"}
	_, locks, err := w.run(b, "mmap", 1)
	if err != nil || !slices.ContainsFunc(locks, func(l counting.Line) bool { return called(l) == "pool.mu" && l.Taken > 0 }) {
		t.Errorf("%v, %v", locks, err)
	}
	// A lock that is held for less than it takes to count has no row.
	var out strings.Builder
	if err := w.measure(&out, b, "mmap"); err != nil || !strings.HasPrefix(out.String(), "churn\t") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
