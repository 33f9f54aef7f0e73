package main

import "fmt"

// A kind is what a workload does.
type kind int

const (
	hotPair  kind = iota // one buffer got and put again
	burst                // sixteen got, then sixteen put
	churn                // 64 out a goroutine, of mixed sizes, replaced at random
	handOver             // got by one goroutine, put by another
)

const (
	largest  = 16 << 20 // bytes of a buffer
	maxProcs = 2
)

// A workload is one line of the table.
type workload struct {
	id    string // as -workloads has it
	title string
	kind  kind
	size  int // of all buffers, in bytes; 0 if they are mixed
	cold  bool
}

// what names a workload for people.
func (w workload) what() string { return w.title + sizeSuffix(", ", w.size) }

// name is what -workloads matches: "W1 4 KiB".
func (w workload) name() string { return w.id + sizeSuffix(" ", w.size) }

// Operations of a turn. Cold ones are the few that a server does between two requests.
const (
	hotOps  = 1 << 14
	coldOps = 1 << 8
)

func (w workload) turnOps() int {
	if w.cold {
		return coldOps
	}
	return hotOps
}

func sizeSuffix(before string, size int) string {
	switch {
	case size == 0:
		return ""
	case size%(1<<20) == 0:
		return fmt.Sprintf("%s%d MiB", before, size>>20)
	case size%(1<<10) == 0:
		return fmt.Sprintf("%s%d KiB", before, size>>10)
	}
	return fmt.Sprintf("%s%d B", before, size)
}

// families are workloads, most of them of several sizes.
var families = []struct {
	workload
	sizes []int
}{
	{workload{id: "W1", title: "hot pair", kind: hotPair}, []int{4 << 10, 256 << 10}},
	{workload{id: "W1B", title: "16 out at once", kind: burst}, []int{4 << 10, 256 << 10}},
	{workload{id: "W2", title: "churn", kind: churn}, []int{0}},
	{workload{id: "W3", title: "hand-over", kind: handOver}, []int{4 << 10, 256 << 10}},
	{workload{id: "W2C", title: "churn, cold", kind: churn, cold: true}, []int{0}},
}

// counted returns the workloads that are counted, on one processor.
func counted() (all []workload) {
	for _, f := range families {
		for _, f.size = range f.sizes {
			all = append(all, f.workload)
		}
	}
	return all
}
