package device

import (
	"unsafe"

	"github.com/bufslab/bufslab/device/internal/base"
)

// hostMemory is the common part of heap and mmap: the CPU reaches their memory,
// and both draw on the memory of the machine.
type hostMemory struct{ *base.Device }

// MemInfo returns the memory of the machine; free is available without swapping.
// The error wraps ErrUnavailable where the system does not tell.
func (h hostMemory) MemInfo() (free, total int64, err error) {
	if err := h.Usable(); err != nil {
		return 0, 0, err
	}
	return systemMemory()
}

func (h hostMemory) Copy(dst, src Block) error {
	if err := h.Usable(); err != nil {
		return err
	}
	if err := CheckCopy(dst, src); err != nil {
		return err
	}
	d, err := HostBytes(h.Name(), dst)
	if err != nil {
		return err
	}
	s, err := HostBytes(h.Name(), src)
	if err == nil {
		copy(d, s)
	}
	return err
}

func (h hostMemory) fill(dst Block, value byte) error {
	if err := h.Usable(); err != nil {
		return err
	}
	if err := CheckBlock(dst); err != nil {
		return err
	}
	d, err := HostBytes(h.Name(), dst)
	if err == nil {
		Fill(d, value)
	}
	return err
}

func (h hostMemory) NewStream() (Stream, error) { return newImmediate(h) }

// address returns the address of m, for alignment only.
func address(m []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) }

// addressable bounds the sizes that the devices of this package compute with,
// so that the sum of two does not overflow: 64 TiB, or 1 GiB where an int has
// 32 bits.
const addressable = 1 << (30 + 16*(^uint(0)>>63))
