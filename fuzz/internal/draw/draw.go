// Package draw draws the sizes and contents of programs.
package draw

import "pgregory.net/rapid"

// MaxInt is the largest int.
const MaxInt = int(^uint(0) >> 1)

// Absurd are sizes that no memory has. Sums of them overflow.
var Absurd = []int{MaxInt, MaxInt - 1, MaxInt - 63, MaxInt - 4096, MaxInt/2 + 1, MaxInt/4 + 1, MaxInt / 4}

// Size draws a size near a power of two, where devices and strategies change
// their ways. It may be 0.
func Size(t *rapid.T) int {
	shift := rapid.IntRange(0, 17).Draw(t, "shift")
	return max(0, 1<<shift+rapid.IntRange(-2, 2).Draw(t, "more"))
}

// UpTo draws a size from 1 to most: near a power of two, one of those before,
// or any.
func UpTo(t *rapid.T, most int, before []int) int {
	switch k := rapid.IntRange(0, 3).Draw(t, "kind"); {
	case k == 0:
		return rapid.IntRange(1, most).Draw(t, "size")
	case k == 1 && len(before) > 0:
		return rapid.SampledFrom(before).Draw(t, "again")
	}
	return min(max(1, Size(t)), most)
}

// Negative draws a size that is none.
func Negative(t *rapid.T) int {
	return -rapid.SampledFrom([]int{1, 64, MaxInt, MaxInt - 63}).Draw(t, "bytes")
}

// Bytes draws contents by two numbers, which shrinks better than n do.
func Bytes(t *rapid.T, n int) []byte {
	first, step := rapid.Byte().Draw(t, "first"), rapid.Byte().Draw(t, "step")
	m := make([]byte, n)
	for i := range m {
		m[i] = first + byte(i)*step + byte(i>>8)
	}
	return m
}
