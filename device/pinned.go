package device

import "fmt"

const pinnedSuffix = ":pinned"

// openPinned opens a device for the sake of its pinned memory.
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
	return &openedPinned{d, parent}, nil
}

func pinnedOf(d Device) (Device, error) {
	if p, ok := d.(Pinner); ok {
		return p.Pinned()
	}
	return nil, fmt.Errorf("device: %s has no page-locked host memory: %w", d.Name(), ErrUnavailable)
}

// An openedPinned is pinned memory whose parent nobody else has: both are
// closed at once.
type openedPinned struct {
	Device
	parent Device
}

func (d *openedPinned) Close() error { return d.parent.Close() }

// Grain passes on what the memory says of its grain, if it does.
func (d *openedPinned) Grain() int {
	if g, ok := d.Device.(Grained); ok {
		return g.Grain()
	}
	return 1
}
