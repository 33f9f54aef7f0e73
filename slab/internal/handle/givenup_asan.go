//go:build asan && cgo

package handle

// #include <stddef.h>
// void __asan_poison_memory_region(void const volatile *addr, size_t size);
// void __asan_unpoison_memory_region(void const volatile *addr, size_t size);
import "C"

import (
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Sanitized says that GivenUp and TakenOver call C, which pinned code must not.
const Sanitized = true

// poisoned has the end of the poisoned bytes of each region, as an offset: the shadow of all
// addresses of a region could be more memory than there is.
var poisoned = struct {
	sync.Mutex // leaf
	end        map[device.Region]int
}{end: map[device.Region]int{}}

// GivenUp poisons the whole block of an owner, as no part of 8 bytes can be poisoned: from now on
// an access is reported. The Go heap is left alone.
func GivenUp(e Entry, _ int) {
	r, n := e.Slot.header().region, e.Slot.Len()
	if e.Mem == nil || n == 0 || r.collected != nil {
		return
	}
	poisoned.Lock()
	defer poisoned.Unlock()
	b := r.block(e.Slot, n)
	poisoned.end[b.Region] = max(poisoned.end[b.Region], b.Off+n)
	C.__asan_poison_memory_region(e.Mem, C.size_t(n))
}

// TakenOver undoes GivenUp for the next owner, of n bytes.
func TakenOver(e Entry, n int) {
	if e.Mem != nil && n > 0 && !e.Slot.Collected() {
		C.__asan_unpoison_memory_region(e.Mem, C.size_t(n))
	}
}

// Left undoes GivenUp for memory that goes upstream: the next owner of the addresses does not know of it.
func Left(b device.Block) {
	poisoned.Lock()
	defer poisoned.Unlock()
	end := min(poisoned.end[b.Region], b.Off+b.Len)
	if b.Off == 0 && end == poisoned.end[b.Region] {
		delete(poisoned.end, b.Region)
	}
	if m := device.Bytes(device.Block{Region: b.Region, Off: b.Off, Len: max(0, end-b.Off)}); len(m) > 0 {
		C.__asan_unpoison_memory_region(unsafe.Pointer(unsafe.SliceData(m)), C.size_t(len(m)))
	}
}
