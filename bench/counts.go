package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// Counts are the figures of counts.json. Another version of Go compiles other
// instructions, so that they can be compared for one alone.
type counts struct {
	Go   string                      `json:"go"`
	Arch string                      `json:"arch"`
	Of   map[string]map[string]count `json:"of"` // workload, pool
}

// uncached is a pool of which each Get and Release goes to the strategy.
const uncached = "mmap uncached"

// pools are counted by -count and -check.
var pools = []string{"heap", "mmap", uncached}

// A job is one figure to count.
type job struct {
	workload
	pool string
}

// countJobs counts the jobs, as many at a time as there are processors.
func countJobs(jobs []job, s simulation) ([]count, error) {
	c, err := newCounter(s)
	defer c.close()
	if err != nil {
		return nil, err
	}
	found, errs := make([]count, len(jobs)), make([]error, len(jobs))
	free := make(chan bool, runtime.NumCPU())
	var all sync.WaitGroup
	for i, j := range jobs {
		free <- true
		all.Go(func() {
			found[i], errs[i] = c.operation(j)
			<-free
		})
	}
	all.Wait()
	return found, errors.Join(errs...)
}

// countNet counts workloads with pools, less the harness, with simulated caches or none.
func countNet(workloads []workload, pools []string, s simulation) (counts, error) {
	c := counts{runtime.Version(), runtime.GOARCH, map[string]map[string]count{}}
	var jobs []job
	for _, w := range workloads {
		for _, p := range append([]string{"harness"}, pools...) {
			jobs = append(jobs, job{w, p})
		}
	}
	found, err := countJobs(jobs, s)
	if err != nil {
		return c, err
	}
	var harness count
	for i, j := range jobs {
		if j.pool == "harness" {
			harness = found[i]
			c.Of[j.name()] = map[string]count{}
		} else {
			c.Of[j.name()][j.pool] = found[i].less(harness).rounded()
		}
	}
	return c, nil
}

// countAll is -count.
func (o options) countAll() error {
	if why := cannotCount(); why != "" {
		return errors.New(why)
	}
	var workloads []workload
	for _, w := range counted() {
		if o.workloads.MatchString(w.name()) {
			workloads = append(workloads, w)
		}
	}
	c, err := countNet(workloads, pools, caches)
	if err != nil {
		return err
	}
	text := c.table(workloads, pools)
	fmt.Print(text)
	if !o.write {
		return nil
	}
	return errors.Join(c.save(kept), report.Replace(documentation, "counts", text))
}

// table prints counts in the order of the workloads and the pools.
func (c counts) table(workloads []workload, pools []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Counted for %s on %s.\n\n", c.Go, c.Arch)
	b.WriteString(report.Row("workload", "pool", "instructions", "data references", "first-level misses",
		"lines from memory") + report.Rule(2, 4))
	for _, w := range workloads {
		for _, p := range pools {
			n := c.Of[w.name()][p]
			b.WriteString(report.Row(w.what(), p, figure(n.Instructions), figure(n.Data), figure(n.First),
				figure(n.Memory)))
		}
	}
	return b.String()
}

// figure prints a rounded figure, tenths where they count.
func figure(v float64) string {
	if math.Abs(v) < 20 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func (c counts) save(file string) error {
	text, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o666)
}

func loadCounts(file string) (c counts, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(text, &c)
}

// cannotCount says why nothing can be counted here, or nothing.
func cannotCount() string {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return "there is no valgrind: nothing is counted"
	}
	return ""
}
