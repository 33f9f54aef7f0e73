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

// check is -check. A runtime's background work can add to a figure and hardly takes from it: each run is counted
// once, and what is too much is counted again.
func check() error {
	old, err := loadCounts(kept)
	if err != nil {
		return err
	}
	if why := old.cannotCheck(runtime.Version(), runtime.GOARCH); why != "" {
		fmt.Println(why)
		return nil
	}
	left := slices.Clone(workloads)
	for try := 1; ; try++ {
		found, err := countNet(left, 1)
		if err != nil {
			return err
		}
		text, grown := old.compare(found)
		fmt.Print(text)
		if len(grown) == 0 {
			return nil
		}
		if try == attempts {
			return fmt.Errorf("more instructions than counts.json allows: %s. If that is meant, "+
				"keep the new figures: cd bench && go run . -count -write", strings.Join(grown, ", "))
		}
		left = slices.DeleteFunc(left, func(w workload) bool { return !mentions(grown, w) })
	}
}

// mentions reports whether a workload is among those that grew.
func mentions(grown []string, w workload) bool {
	return slices.ContainsFunc(grown, func(s string) bool { return strings.HasPrefix(s, w.name+",") })
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
func (c counts) compare(found counts) (text string, grown []string) {
	for _, w := range workloads {
		for _, p := range names() {
			now, counted := found.Of[w.name][p]
			if !counted || byTheClock(w.name, p) {
				continue
			}
			old, name := c.Of[w.name][p], w.name+", "+p
			text += fmt.Sprintf("%-23s %6.0f instructions, %.0f kept (%+.1f %%)\n", name, now, old, 100*(now/old-1))
			if !(now <= old*allowed) {
				grown = append(grown, name)
			}
		}
	}
	return text, grown
}

// byTheClock reports whether the figure says nothing. Which blocks of a churn the caches keep goes by
// how often they are asked for in a second, and under cachegrind all takes fifty times as long.
func byTheClock(workload, pool string) bool { return workload == "W2" && pool != uncached }
