package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

const (
	allowed  = 1.03 // of the instructions that are kept
	attempts = 3
)

// checkedWorkloads are those whose instructions may not grow.
var checkedWorkloads = []string{"W1 4 KiB", "W1B 4 KiB", "W2", "W3 4 KiB"}

// check is -check. A runtime's background work can add to a figure and never takes from
// it: what is too much is counted again.
func check() error {
	old, err := loadCounts(kept)
	if err != nil {
		return err
	}
	if why := old.cannotCheck(runtime.Version(), runtime.GOARCH); why != "" {
		fmt.Println(why)
		return nil
	}
	workloads := slices.DeleteFunc(counted(),
		func(w workload) bool { return !slices.Contains(checkedWorkloads, w.name()) })
	for try := 1; ; try++ {
		found, err := countNet(workloads, pools, noCaches)
		if err != nil {
			return err
		}
		report, grown := old.compare(found)
		fmt.Print(report)
		if len(grown) == 0 {
			return nil
		}
		if try == attempts {
			return fmt.Errorf("more instructions than counts.json allows: %s. If that is meant, "+
				"keep the new figures: cd bench && go run . -count -write", strings.Join(grown, ", "))
		}
		workloads = slices.DeleteFunc(workloads, func(w workload) bool { return !mentions(grown, w) })
	}
}

// mentions reports whether a workload is among those that grew.
func mentions(grown []string, w workload) bool {
	return slices.ContainsFunc(grown, func(s string) bool { return strings.HasPrefix(s, w.name()+",") })
}

// cannotCheck says why the figures kept do not apply here, or nothing.
func (c counts) cannotCheck(version, arch string) string {
	if c.Go != version || c.Arch != arch {
		return fmt.Sprintf("counts.json is of %s on %s, and this is %s on %s: instructions are not compared", c.Go,
			c.Arch, version, arch)
	}
	return cannotCount()
}

// compare reports each figure beside the one kept, and names those that are more than
// allowed or not kept.
func (c counts) compare(found counts) (report string, grown []string) {
	for _, w := range checkedWorkloads {
		for _, p := range pools {
			now, counted := found.Of[w][p]
			if !counted || byTheClock(w, p) {
				continue
			}
			old := c.Of[w][p].Instructions
			name := w + ", " + p
			report += fmt.Sprintf("%-23s %6.0f instructions, %.0f kept (%+.1f %%)\n", name, now.Instructions, old,
				100*(now.Instructions/old-1))
			if !(now.Instructions <= old*allowed) {
				grown = append(grown, name)
			}
		}
	}
	return report, grown
}

// byTheClock reports whether the figure says nothing. Which blocks of a churn the caches keep goes by
// how often they are asked for in a second, and under cachegrind all takes fifty times as long.
func byTheClock(workload, pool string) bool { return workload == "W2" && pool != uncached }
