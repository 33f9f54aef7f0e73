package metal

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// A kind is one of memory.
type kind struct {
	name    string
	options uintptr
}

var (
	shared  = &kind{"", storageShared}
	private = &kind{"private", storagePrivate}
	pinned  = &kind{"pinned", storageShared}
)

// kindOf returns what a name ends in. Without a name it is what the GPU is best at.
func (h *hardware) kindOf(name string) (*kind, error) {
	switch {
	case name == "" && h.Unified:
		return shared, nil
	case name == "" || name == private.name:
		return private, nil
	}
	return nil, fmt.Errorf("metal: no memory %q, only private and pinned: %w", name, device.ErrUnavailable)
}
