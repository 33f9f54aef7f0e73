// Package marks writes to memory what only its owner knows, and looks for it later: two
// buffers that overlap, and one that was handed out twice, do not keep their marks.
package marks

import "encoding/binary"

// Write writes to m what no other id would have there. A byte between two marks stays as it is.
func Write(m []byte, id uint64) {
	for i := 0; i+8 <= len(m); i += stride(len(m)) {
		binary.LittleEndian.PutUint64(m[i:], id+uint64(i))
	}
}

// Are reports whether m has the marks of id.
func Are(m []byte, id uint64) bool {
	for i := 0; i+8 <= len(m); i += stride(len(m)) {
		if binary.LittleEndian.Uint64(m[i:]) != id+uint64(i) {
			return false
		}
	}
	return true
}

// stride samples large buffers.
func stride(n int) int { return max(8, n/64&^7) }
