package model

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
)

// MostLive bounds what is out at a time, so that a program ends for want of
// memory and not of time.
const MostLive = 40

// OK fails the program at an error that no step expects.
func OK(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ExpectNoRoom fails unless err says that there is no room for size bytes.
func ExpectNoRoom(t *rapid.T, size int, err error) {
	t.Helper()
	if !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatalf("Alloc of %d bytes: error does not wrap device.ErrOutOfMemory: %v", size, err)
	}
}

// MayLackRoom fails unless err is nil or says that there is no room for size bytes.
func MayLackRoom(t *rapid.T, size int, err error) {
	t.Helper()
	if err != nil {
		ExpectNoRoom(t, size, err)
	}
}

// ExpectNoRange fails while addresses are still reserved. They cost no memory,
// but a process has a limited number of them.
func ExpectNoRange(t *rapid.T, a Accounts) {
	t.Helper()
	if a.Ranges != 0 {
		t.Fatalf("%d ranges of addresses are still reserved, and nothing is out", a.Ranges)
	}
}

// Overlap reports whether two blocks have a byte in common.
func Overlap(a, b device.Block) bool {
	return a.Region == b.Region && a.Off < b.Off+b.Len && b.Off < a.Off+a.Len
}

// Panics reports whether f panics.
func Panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
