package bufslab

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// docs/observing.md says of each metric what it means, and of no other.
func TestEveryMetricIsExplained(t *testing.T) {
	table := between(t, read(t, "docs/observing.md"), "| number |", "\n\n")
	explained := map[string]bool{}
	for row := range strings.Lines(table) {
		head, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, name := range regexp.MustCompile(`[a-z]+(_[a-z]+)*`).FindAllString(head, -1) {
			explained[name] = true
		}
	}
	delete(explained, "means") // the head
	for m := range slab.MustOpen("").Metrics() {
		name := strings.TrimSuffix(strings.TrimPrefix(m.Name, "bufslab_"), "_total")
		if !explained[name] {
			t.Errorf("%s is not explained", name)
		}
		delete(explained, name)
	}
	for name := range explained {
		t.Errorf("%q is no metric", name)
	}
}
