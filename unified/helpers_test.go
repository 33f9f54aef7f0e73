package unified

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

var errTest = errors.New("test")

// hostBlock returns the bytes of m as a block.
func hostBlock[T any](m []T) device.Block {
	return device.Host(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m))), len(m)*sizeOf[T]()))
}

func numbers(m []int32, seed int32) []int32 {
	for i := range m {
		m[i] = seed<<16 + int32(i)
	}
	return m
}

func writeDeviceSide(t *testing.T, d device.Device, b *Buffer[int32], seed int32) {
	t.Helper()
	block := check.Ok(b.DeviceMut())(t)
	check.Must(t, d.Copy(block, hostBlock(numbers(make([]int32, b.Len()), seed))))
}
