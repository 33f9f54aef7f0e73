// Package poison knows what fills memory that is not to be used.
package poison

import (
	"bytes"
	"slices"
)

// Freed fills what was released. [device.Fill] writes it.
const Freed = 0xF3

// Unlike returns the offset of the first byte of m that is not v, or -1.
func Unlike(m []byte, v byte) int {
	if bytes.Count(m, []byte{v}) == len(m) { // many times as fast as a loop
		return -1
	}
	return slices.IndexFunc(m, func(x byte) bool { return x != v })
}
