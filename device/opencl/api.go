package opencl

import "unsafe"

// Handles of the driver's objects. They are pointers to C, which the
// collector is not to know.
type (
	platformID uintptr
	deviceID   uintptr
	contextID  uintptr
	queueID    uintptr
	memID      uintptr
	eventID    uintptr
)

// An api is the functions of libOpenCL that are used, each named without its
// cl, with Go types as wide as C's: size_t is uintptr, cl_bool, cl_uint and
// cl_int have 32 bits, bit fields 64. Functions that only later versions have
// are nil where the library lacks them. A test makes the driver fail by a copy
// whose functions it replaces.
type api struct {
	GetPlatformIDs  func(room uint32, ids *platformID, n *uint32) code
	GetPlatformInfo func(p platformID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code
	GetDeviceIDs    func(p platformID, kinds uint64, room uint32, ids *deviceID, n *uint32) code
	GetDeviceInfo   func(d deviceID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code

	CreateContext       func(properties *uintptr, n uint32, ids *deviceID, notify, user uintptr, err *code) contextID
	RetainContext       func(contextID) code
	ReleaseContext      func(contextID) code
	GetContextInfo      func(c contextID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code
	CreateCommandQueue  func(c contextID, d deviceID, properties uint64, err *code) queueID
	RetainCommandQueue  func(queueID) code
	ReleaseCommandQueue func(queueID) code
	GetCommandQueueInfo func(q queueID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code

	CreateBuffer     func(c contextID, flags uint64, size uintptr, host unsafe.Pointer, err *code) memID
	CreateSubBuffer  func(m memID, flags uint64, kind uint32, region *[2]uintptr, err *code) memID
	ReleaseMemObject func(memID) code
	EnqueueMapBuffer func(q queueID, m memID, wait uint32, flags uint64, off, size uintptr,
		n uint32, after, done *eventID, err *code) unsafe.Pointer
	EnqueueUnmap func(q queueID, m memID, p unsafe.Pointer,
		n uint32, after, done *eventID) code `cl:"clEnqueueUnmapMemObject"`
	EnqueueMigrate func(q queueID, mems uint32, m *memID, flags uint64,
		n uint32, after, done *eventID) code `cl:"clEnqueueMigrateMemObjects"`
	EnqueueCopyBuffer func(q queueID, src, dst memID, from, to, size uintptr,
		n uint32, after, done *eventID) code
	EnqueueFillBuffer func(q queueID, m memID, pattern *byte, width, off, size uintptr,
		n uint32, after, done *eventID) code

	EnqueueReadBuffer func(q queueID, m memID, wait uint32, off, size uintptr, host unsafe.Pointer,
		n uint32, after, done *eventID) code
	EnqueueWriteBuffer func(q queueID, m memID, wait uint32, off, size uintptr, host unsafe.Pointer,
		n uint32, after, done *eventID) code

	EnqueueMarker func(q queueID,
		n uint32, after, done *eventID) code `cl:"clEnqueueMarkerWithWaitList"`
	EnqueueBarrier func(q queueID,
		n uint32, after, done *eventID) code `cl:"clEnqueueBarrierWithWaitList"`
	Flush         func(queueID) code
	WaitForEvents func(n uint32, events *eventID) code
	GetEventInfo  func(e eventID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code
	RetainEvent   func(eventID) code
	ReleaseEvent  func(eventID) code

	// Since OpenCL 2.0, and nil before.
	SVMAlloc func(c contextID, flags uint64, size uintptr,
		align uint32) unsafe.Pointer `since:"2.0"`
	SVMFree       func(c contextID, p unsafe.Pointer) `since:"2.0"`
	EnqueueSVMMap func(q queueID, wait uint32, flags uint64, p unsafe.Pointer, size uintptr,
		n uint32, after, done *eventID) code `since:"2.0"`
	EnqueueSVMUnmap func(q queueID, p unsafe.Pointer,
		n uint32, after, done *eventID) code `since:"2.0"`
	EnqueueSVMMemcpy func(q queueID, wait uint32, dst, src unsafe.Pointer, size uintptr,
		n uint32, after, done *eventID) code `since:"2.0"`
	EnqueueSVMMemFill func(q queueID, dst unsafe.Pointer, pattern *byte, width, size uintptr,
		n uint32, after, done *eventID) code `since:"2.0"`
}

// What the functions are asked for, as in the headers of OpenCL.
const (
	platformName = 0x0902

	anyDevice = 0xFFFFFFFF

	deviceMaxAlloc      = 0x1010 // cl_ulong, bytes
	deviceBaseAddrAlign = 0x1019 // cl_uint, bits
	deviceGlobalMem     = 0x101F // cl_ulong, bytes
	deviceName          = 0x102B
	driverVersion       = 0x102D
	deviceVersion       = 0x102F
	devicePlatform      = 0x1031
	deviceSVM           = 0x1053 // cl_bitfield

	contextDevices  = 0x1081
	contextPlatform = 0x1084

	queueContext = 0x1090
	queueDevice  = 0x1091

	svmCoarse = 1 << 0
	svmFine   = 1 << 1

	memSVMFine = 1 << 10

	subBufferRegion = 0x1220

	mapReadWrite     = 1<<0 | 1<<1
	contentUndefined = 1 << 1

	eventStatus = 0x11D3 // cl_int
)

// after is how a wait list is written: NULL where there is nothing to wait for.
func after(events []eventID) (uint32, *eventID) {
	if len(events) == 0 {
		return 0, nil
	}
	return uint32(len(events)), &events[0]
}
