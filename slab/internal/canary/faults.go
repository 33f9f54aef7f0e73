package canary

import (
	"slices"
	"sync"

	"github.com/bufslab/bufslab/slab/internal/watch"
)

// faults are what a Check found where no caller could be told.
type faults struct {
	log watch.LateLog

	mu   sync.Mutex // leaf
	list []string
}

// MaxFaults bounds the list.
const MaxFaults = 100

// Report keeps a fault and logs it, on another goroutine: the caller may hold locks.
func (f *faults) Report(fault string) {
	f.log.Error(fault)
	go f.log.Flush()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) < MaxFaults {
		f.list = append(f.list, fault)
	}
}

// Flush waits until all that was reported is logged. The caller holds no lock. A nil Check has found nothing.
func (c *Check) Flush() {
	if c != nil {
		c.log.Flush()
	}
}

func (f *faults) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}
