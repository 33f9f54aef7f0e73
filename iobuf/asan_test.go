//go:build asan

package iobuf

// sanitized says that the compiler keeps on the heap what it would not otherwise.
const sanitized = true
