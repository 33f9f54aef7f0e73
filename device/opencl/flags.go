package opencl

import (
	"fmt"
	"math/bits"
)

// MemFlags are cl_mem_flags: what kernels and the host do with a buffer. 0 is ReadWrite.
type MemFlags uint64

// The flags that [New] takes. Of the first three, and of the last three, a buffer has one
// at most. Copies and fills that a host flag forbids fail with the driver's error.
const (
	ReadWrite     MemFlags = 1 << 0 // kernels read and write
	WriteOnly     MemFlags = 1 << 1 // kernels only write
	ReadOnly      MemFlags = 1 << 2 // kernels only read
	AllocHostPtr  MemFlags = 1 << 4 // the driver finds memory that the host reaches, too
	HostWriteOnly MemFlags = 1 << 7 // the host only writes
	HostReadOnly  MemFlags = 1 << 8 // the host only reads
	HostNoAccess  MemFlags = 1 << 9 // the host does neither
)

const (
	byKernels = ReadWrite | WriteOnly | ReadOnly
	byHost    = HostWriteOnly | HostReadOnly | HostNoAccess
	hostPtr   = MemFlags(1<<3 | 1<<5) // CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR
)

// kernels returns what kernels do with the buffer, which a part of it has to repeat.
func (f MemFlags) kernels() MemFlags { return f & byKernels }

// fault says why memory, buffers or not, cannot have the flags, or "".
func (f MemFlags) fault(buffers bool) string {
	known := byKernels | byHost | AllocHostPtr
	switch {
	case f&hostPtr != 0:
		return fmt.Sprintf("%#x want memory of the caller's, and a device has its own (CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR)", uint64(f))
	case f&^known != 0:
		return fmt.Sprintf("%#x have %#x, which is none that buffers take; shared virtual memory is a Form", uint64(f),
			uint64(f&^known))
	case bits.OnesCount64(uint64(f&byKernels)) > 1:
		return fmt.Sprintf("%#x contradict each other: kernels read, write or both (CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY)", uint64(f))
	case bits.OnesCount64(uint64(f&byHost)) > 1:
		return fmt.Sprintf("%#x contradict each other: the host writes, reads or does neither (CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS)", uint64(f))
	case !buffers && f&^byKernels != 0:
		return fmt.Sprintf("%#x are more than shared virtual memory has, which is reached by the host: only one of CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY", uint64(f))
	}
	return ""
}

// orDefault adds that kernels read and write, where nothing is said of them.
func (f MemFlags) orDefault() MemFlags {
	if f&byKernels == 0 {
		f |= ReadWrite
	}
	return f
}
