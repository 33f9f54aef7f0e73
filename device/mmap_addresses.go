//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows

package device

import (
	"fmt"
	"sync/atomic"
)

// Ranges share their addresses with the Go heap, which dies where it finds none. So
// there is a bound for each range, and a bound for all ranges of the process. Beyond
// them a range is refused, and the program uses memory without a range.

const (
	// addressSpace is the number of addresses of a process on most systems: 47 bits, or
	// half of what 32 bits address.
	addressSpace = 2 * addressable
	// leastRange is the least size that a large range is cut down to.
	leastRange = 64 << 20
)

// rangeBytes are the addresses of all ranges that are open.
var rangeBytes atomic.Int64

// rangeShares returns the most addresses for one range, and for all.
func rangeShares() (one, all int64) {
	limit := int64(min(addressLimit(), addressSpace))
	return min(limit/16, max(addressSpace/4096, leastRange)), limit / 4
}

// takeAddresses counts up to size bytes of addresses for a range, and returns their number.
func takeAddresses(size, page int) (int, error) {
	one, all := rangeShares()
	if int64(size) > one {
		if one < leastRange {
			return 0, fmt.Errorf("device: range of %d bytes where one may have %d: %w", size, one, ErrUnavailable)
		}
		size = int(one) &^ (page - 1)
	}
	for {
		used := rangeBytes.Load()
		if int64(size) > all-used {
			return 0, fmt.Errorf("device: range of %d bytes where ranges have %d of %d: %w", size, used, all,
				ErrUnavailable)
		}
		if rangeBytes.CompareAndSwap(used, used+int64(size)) {
			return size, nil
		}
	}
}

// giveAddresses undoes takeAddresses.
func giveAddresses(size int) { rangeBytes.Add(-int64(size)) }
