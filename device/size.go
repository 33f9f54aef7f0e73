package device

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// ParseSize reads a size in bytes: "4096", "64 KiB", "1.5GiB" (powers of
// 1024) or "8GB" (powers of 1000). Letter case and a space before the unit do
// not matter. The error wraps [ErrSize] when text is not a size, is negative or
// is above the largest int64.
func ParseSize(text string) (int64, error) {
	// Plain integers first: they are exact, and may be negative by mistake.
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 0 {
			return 0, fmt.Errorf("device: %d bytes: %w", n, ErrSize)
		}
		return n, nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("device: %q is no number of bytes from 0 to %d: %w", text, int64(math.MaxInt64), ErrSize)
	}
	return int64(n), nil
}
