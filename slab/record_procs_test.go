package slab

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// A recording says on which processor each call ran: on one it is always the same, and goroutines that run
// at the same time are on several.
func TestRecordedProcessors(t *testing.T) {
	if raceEnabled {
		t.Skip("Under the race detector nothing is pinned: the number of a processor is drawn.")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := processorsOf(t, 1); len(got) != 1 {
		t.Errorf("one processor has the numbers %v", got)
	}
	runtime.GOMAXPROCS(2)
	eventually(t, "two goroutines run at once", func() bool { return len(processorsOf(t, 2)) == 2 })
}

// processorsOf returns the column thread of a recording of goroutines, each with as many rows.
func processorsOf(t *testing.T, goroutines int) map[string]int {
	p := openPool(t, "heap", Config{RecordLast: 1 << 20})
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range 2000 {
				mustRelease(t, mustGet(t, p, 100))
			}
		})
	}
	all.Wait()
	var b bytes.Buffer
	check.Must(t, p.WriteRecord(&b))
	rows := map[string]int{}
	for row := range strings.Lines(b.String()) {
		if fields := strings.Split(row, ","); fields[0] == "a" || fields[0] == "f" {
			rows[fields[3]]++
		}
	}
	return rows
}
