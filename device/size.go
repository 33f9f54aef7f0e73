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

// times multiplies a number in text by a unit, and drops fractions of a byte. It computes with
// integers: a float64 of 8.2 GB is a byte short.
func times(text string, unit uint64) (int64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if unit == 0 || whole+fraction == "" || strings.Contains(fraction, ".") {
		return 0, false
	}
	n, err := strconv.ParseUint("0"+whole, 10, 64)
	high, low := bits.Mul64(n, unit)
	sum, carry := bits.Add64(low, part(fraction, unit), 0)
	return int64(sum), err == nil && high+carry == 0 && sum <= math.MaxInt64
}

// part multiplies a fraction by a unit, from its last digit on, where fractions of a byte make no
// difference.
func part(digits string, unit uint64) (n uint64) {
	for i := len(digits) - 1; i >= 0; i-- {
		n = (uint64(digits[i]-'0')*unit + n) / 10
	}
	return n
}
