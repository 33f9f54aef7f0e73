package canary

import (
	"log/slog"
	"slices"
	"sync"
)

// faults are what a Check found where no caller could be told.
type faults struct {
	log func() *slog.Logger

	mu   sync.Mutex // leaf
	list []string
}

// MaxFaults bounds the list.
const MaxFaults = 100

// Report keeps a fault and logs it, on another goroutine: the caller may hold locks.
func (f *faults) Report(fault string) {
	go f.log().Error(fault)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) < MaxFaults {
		f.list = append(f.list, fault)
	}
}

func (f *faults) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}
