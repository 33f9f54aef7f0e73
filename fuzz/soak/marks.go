package soak

import "encoding/binary"

// Marks are what only its owner writes to memory, and looks for later: two buffers that overlap, and one that was
// handed out twice, do not keep their marks.

// writeMarks writes to m what no other id would have there. A byte between two marks stays as it is.
func writeMarks(m []byte, id uint64) {
	for i := 0; i+8 <= len(m); i += stride(len(m)) {
		binary.LittleEndian.PutUint64(m[i:], id+uint64(i))
	}
}

// areMarks reports whether m has the marks of id.
func areMarks(m []byte, id uint64) bool {
	for i := 0; i+8 <= len(m); i += stride(len(m)) {
		if binary.LittleEndian.Uint64(m[i:]) != id+uint64(i) {
			return false
		}
	}
	return true
}

// stride samples large buffers.
func stride(n int) int { return max(8, n/64&^7) }
