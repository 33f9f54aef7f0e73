package device

import (
	"fmt"

	"github.com/bufslab/bufslab/device/internal/base"
)

const pinnedSuffix = ":pinned"

// openPinned opens a device and returns its pinned memory.
func openPinned(name string) (Device, error) {
	parent, err := Open(name)
	if err != nil {
		return nil, err
	}
	d, err := pinnedOf(parent)
	if err != nil {
		_ = parent.Close()
		return nil, err
	}
	if base.Own(d, parent.Close) {
		return d, nil
	}
	return &openedPinned{d, parent}, nil
}

func pinnedOf(d Device) (m Device, err error) {
	if p, ok := d.(Pinner); ok {
		m, err = p.Pinned()
	}
	if err == nil && m == nil {
		err = fmt.Errorf("device: %s has no page-locked host memory: %w", d.Name(), ErrUnavailable)
	}
	return m, err
}

// An openedPinned is pinned memory that owns its parent, for pinned devices that do not own it
// themselves. It has only the methods of a Device. Close closes both.
type openedPinned struct {
	Device
	parent Device
}

func (d *openedPinned) Close() error { return d.parent.Close() }

// Traits are those of the memory.
func (d *openedPinned) Traits() Traits { return TraitsOf(d.Device) }

// AllocAligned is AllocAligned of the memory, or Alloc if the memory has no such method.
func (d *openedPinned) AllocAligned(size, align int) (Block, error) {
	if a, ok := d.Device.(interface {
		AllocAligned(size, align int) (Block, error)
	}); ok {
		return a.AllocAligned(size, align)
	}
	return d.Alloc(size)
}
