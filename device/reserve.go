package device

import (
	"fmt"

	"github.com/bufslab/bufslab/device/internal/base"
)

// roundUp returns the least multiple of a power of two that is at least n.
func roundUp(n, to int) int { return (n + to - 1) &^ (to - 1) }

// reservable returns the bytes that Reserve asks for: whole pages of size bytes, at
// most addressable. fixed says that the device was told not to reserve.
func reservable(d *base.Device, fixed bool, size, page int) (int, error) {
	if err := d.CheckAlloc(size); err != nil {
		return 0, err
	}
	if fixed {
		return 0, fmt.Errorf("device: Reserve on %s: %w", d.Name(), ErrUnavailable)
	}
	if size = min(size, addressable) &^ (page - 1); size == 0 {
		return 0, fmt.Errorf("device: Reserve of less than a page of %d bytes: %w", page, ErrSize)
	}
	return size, nil
}
