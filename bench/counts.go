package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// Counts are the figures of counts.json. Another version of Go compiles other
// instructions, so that they can be compared for one alone.
type counts struct {
	Go   string                        `json:"go"`
	Arch string                        `json:"arch"`
	Of   map[string]map[string]float64 `json:"of"` // instructions, by workload and pool
}

// countNet counts workloads with all pools, as many at a time as there are processors, less the harness. It takes
// the least of some tries of each run.
func countNet(of []workload, tries int) (counts, error) {
	all := counts{runtime.Version(), runtime.GOARCH, map[string]map[string]float64{}}
	c, err := newCounter(tries)
	defer c.close()
	if err != nil {
		return all, err
	}
	free := make(chan bool, runtime.NumCPU())
	var mu sync.Mutex
	var wait sync.WaitGroup
	var failed []error
	for _, w := range of {
		found := map[string]float64{}
		all.Of[w.name] = found
		for _, pool := range append(names(), "harness") {
			free <- true
			wait.Go(func() {
				n, err := c.operation(pool, w)
				mu.Lock()
				defer mu.Unlock()
				found[pool], failed = n, append(failed, err)
				<-free
			})
		}
	}
	wait.Wait()
	for _, found := range all.Of {
		for _, pool := range names() {
			found[pool] = math.Round(10*(found[pool]-found["harness"])) / 10
		}
		delete(found, "harness")
	}
	return all, errors.Join(failed...)
}

func names() (all []string) {
	for _, p := range pools {
		all = append(all, p.name)
	}
	return all
}

// printAll is -count.
func printAll(write bool) error {
	if why := cannotCount(); why != "" {
		return errors.New(why)
	}
	c, err := countNet(workloads, 3)
	if err != nil {
		return err
	}
	text := c.table()
	fmt.Print(text)
	if !write {
		return nil
	}
	return errors.Join(c.save(kept), report.Replace(documentation, "counts", text))
}

// table prints counts in the order of the workloads and the pools.
func (c counts) table() string {
	text := fmt.Sprintf("Counted for %s on %s.\n\n", c.Go, c.Arch) +
		report.Row("workload", "pool", "instructions") + report.Rule(2, 1)
	for _, w := range workloads {
		for _, p := range names() {
			text += report.Row(w.title, p, fmt.Sprintf("%.0f", c.Of[w.name][p]))
		}
	}
	return text
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
