//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/bench/scale/counting"
)

// A work is a program of package programs, or churn of which a share of the bytes is touched.
type work struct {
	name  string
	ops   int
	share string // of churn
}

func works() (all []work) {
	for name, ops := range map[string]int{"arrow": 60, "upload": 500, "json": 2000, "grpc": 2000, "proxy": 1500,
		"blocks": 1000, "pipeline": 300, "numbers": 6000, "broker": 2000, "tiles": 4000} {
		all = append(all, work{name: name, ops: ops})
	}
	slices.SortFunc(all, func(a, b work) int { return cmp.Compare(a.name, b.name) })
	for _, share := range []string{"0", "10", "100"} {
		all = append(all, work{"churn, " + share + " % touched", 1_000_000, share})
	}
	return all
}

// took is what a run says of itself: operations, and the seconds that they took, of all processors in the programs.
type took struct {
	Ops       float64 `json:"ops"`
	Processor float64 `json:"processor"`
}

// measure prints a line for each lock that takes a thousandth of the time or more, the dearest first.
func (w work) measure(out io.Writer, b builds, kind string) error {
	one, locks, err := w.run(b, kind, 1)
	if err != nil {
		return err
	}
	_, others, err := w.run(b, kind, 2)
	if err != nil {
		return err
	}
	alone, stations := one.parts(locks)
	t := alone + sum(stations)
	first, last := fmt.Sprintf("%s\t%.1f\t", w.name, t/1e3), fmt.Sprintf("\t%d", half(stations, alone))
	for _, l := range locks {
		if held := one.held(l); held > t/1000 {
			fmt.Fprintf(out, "%s%s\t%.2f\t%.0f\t%.1f %%\t%.1f %%%s\n", first, called(l), float64(l.Taken)/one.Ops, held,
				contended(l.Name(), others), 100*held/float64(l.Locks)/t, last)
			first, last = "\t\t", "\t"
		}
	}
	return nil
}

// cost is what it takes to count: nanoseconds under a lock, and in all.
var cost = func() (c struct{ held, all float64 }) {
	const times = 100_000
	var m counting.Mutex
	begin := time.Now()
	for range times {
		m.Lock()
		c.held = 0 // or a check takes the two calls for a mistake
		m.Unlock()
	}
	c.all, c.held = float64(time.Since(begin))/times, float64(m.Line().Held)/times
	return c
}()

// held returns the nanoseconds of an operation under some locks, less what it takes to count.
func (t took) held(l counting.Line) float64 {
	return max(0, float64(l.Held)-cost.held*float64(l.Taken)) / t.Ops
}

// parts returns the nanoseconds of an operation that are spent under no lock, and under each. Equal locks are as many
// stations, up to mostStations, which are used alike.
func (t took) parts(locks []counting.Line) (alone float64, stations []station) {
	alone = t.Processor / t.Ops * 1e9
	for _, l := range locks {
		n := min(l.Locks, mostStations)
		for range n {
			stations = append(stations, station(t.held(l)/float64(n)))
		}
		alone -= t.held(l) + cost.all*float64(l.Taken)/t.Ops
	}
	return max(0, alone), stations
}

const mostStations = 64

func sum(stations []station) (all float64) {
	for _, s := range stations {
		all += float64(s)
	}
	return all
}

// called returns what our documentation calls the locks of a line, and how many there are.
func called(l counting.Line) string {
	file, _, _ := strings.Cut(l.Name(), ":")
	name, ok := map[string]string{"slab/fresh.go": "pool.mu", "slab/lending.go": "pool.mu",
		"strategy/sizeclass.go": "sizeclass", "pageheap/grow.go": "growMu", "percpu/depot.go": "depot",
		"percpu/usage.go": "processor", "percpu/reclaim.go": "closing", "slab/open.go": "reclaimMu",
		"slab/reclaim.go": "reclaimMu"}[file]
	if !ok {
		name = l.Name()
	}
	if l.Locks > 1 {
		name += fmt.Sprintf(" (%d)", l.Locks)
	}
	return name
}

// contended returns how many of a hundred calls found a lock taken, on two processors.
func contended(name string, locks []counting.Line) float64 {
	for _, l := range locks {
		if l.Name() == name {
			return 100 * float64(l.Contended) / float64(l.Taken)
		}
	}
	return 0
}

// run does the work on some processors, and returns the locks that were taken, the dearest first.
func (w work) run(b builds, kind string, processors int) (t took, locks []counting.Line, err error) {
	file := filepath.Join(filepath.Dir(b.churn), "locks")
	if err := os.WriteFile(file, make([]byte, unsafe.Sizeof(counting.Table{})), 0o600); err != nil {
		return t, nil, err
	}
	c := exec.Command(b.programs, "-child", w.name, "-kind", kind, "-ops", strconv.Itoa(w.ops))
	if w.share != "" {
		c = exec.Command(b.churn, "-child", w.share, "-kind", kind, "-ops", strconv.Itoa(w.ops))
	}
	c.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(processors), counting.File+"="+file)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	table, unread := counting.Read(file)
	for _, l := range table {
		if l.Taken > 0 {
			locks = append(locks, l)
		}
	}
	slices.SortFunc(locks, func(a, b counting.Line) int { return cmp.Compare(b.Held, a.Held) })
	if len(locks) == 0 {
		unread = errors.Join(unread, errors.New("no lock was counted"))
	}
	return t, locks, errors.Join(err, unread)
}
