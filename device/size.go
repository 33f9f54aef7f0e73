package device

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// ParseSize reads a size in bytes: "4096", "64 KiB", "1.5GiB" (powers of
// 1024) or "8GB" (powers of 1000). Letter case, a space before the unit and its
// last B do not matter. The error wraps [ErrSize] when text is not a size, is negative or
// is above the largest int64.
func ParseSize(text string) (int64, error) {
	end := len(text) - len(strings.TrimLeft(text, "0123456789."))
	n, ok := times(text[:end], unitOf(text[end:]))
	if !ok {
		return 0, fmt.Errorf("device: %q is no number of bytes from 0 to %d: %w", text, int64(math.MaxInt64), ErrSize)
	}
	return n, nil
}

// unitOf returns the bytes of a unit, 0 if there is none of that name.
func unitOf(name string) uint64 {
	name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), "b")
	prefix, isBinary := strings.CutSuffix(name, "i")
	base, power := uint64(1000), strings.Index(" kmgtpe", prefix)
	if isBinary {
		base = 1024
	}
	switch {
	case name == "":
		return 1
	case len(prefix) != 1 || power < 1:
		return 0
	}
	unit := uint64(1)
	for range power {
		unit *= base
	}
	return unit
}

// times multiplies a number in text by a unit: exactly, if it is whole.
func times(text string, unit uint64) (int64, bool) {
	if unit == 0 {
		return 0, false
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		high, low := bits.Mul64(n, unit)
		return int64(low), high == 0 && low <= math.MaxInt64
	}
	f, err := strconv.ParseFloat(text, 64)
	f *= float64(unit)
	return int64(f), err == nil && f < math.MaxInt64
}
