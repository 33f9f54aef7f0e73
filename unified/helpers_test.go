package unified

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same names the first element that differs.
func same[T comparable](t testing.TB, got, want []T) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("element %d of %d is %v, not %v", i, len(want), got[i], want[i])
		}
	}
	t.Fatalf("%d elements, not %d", len(got), len(want))
}

// hostBlock returns the bytes of m as a block.
func hostBlock[T any](m []T) device.Block {
	return device.Host(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m))), len(m)*sizeOf[T]()))
}
