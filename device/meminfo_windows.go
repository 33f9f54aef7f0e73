package device

import (
	"fmt"
	"unsafe"
)

// memoryStatus is MEMORYSTATUSEX. What it calls the page file is what may be committed, by the system or
// by the process, if that is less.
type memoryStatus struct {
	length, load                  uint32
	totalMemory, freeMemory       uint64
	totalCommit, freeCommit       uint64
	totalAddresses, freeAddresses uint64
	_                             uint64
}

// systemMemory returns the available bytes of memory, and all bytes, as far as they may be committed.
func systemMemory() (free, total int64, err error) {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, err := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return 0, 0, fmt.Errorf("device: GlobalMemoryStatusEx: %v: %w", err, ErrUnavailable)
	}
	total = int64(min(s.totalMemory, s.totalCommit))
	return min(int64(min(s.freeMemory, s.freeCommit)), total), total, nil
}
