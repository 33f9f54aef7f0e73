package metal

import (
	"runtime"
	"unsafe"
)

// An id is an object of Metal, 0 for nil. It is an address of C, which the collector is not to know.
type id uintptr

// A selector is the name of a method.
type selector int

const (
	selRetain selector = iota
	selRelease
	selCount
	selObjectAtIndex
	selUTF8String
	selName
	selRegistryID
	selUnified
	selRecommended
	selAllocated
	selLongest
	selNewBuffer
	selNewWithoutCopy
	selContents
	selNewQueue
	selNewEvent
	selCommandBuffer
	selBlit
	selCopy
	selFill
	selEndEncoding
	selEncodeSignal
	selEncodeWait
	selCommit
	selWait
	selStatus
	selError
	selCode
	selDescription
	selSignaled
	selSetSignaled
	selectors = iota
)

// selectorNames are as in the headers of Metal. All are in every macOS that Go runs on.
var selectorNames = [selectors]string{
	"retain", "release", "count", "objectAtIndex:", "UTF8String",
	"name", "registryID", "hasUnifiedMemory", "recommendedMaxWorkingSetSize", "currentAllocatedSize", "maxBufferLength",
	"newBufferWithLength:options:", "newBufferWithBytesNoCopy:length:options:deallocator:", "contents",
	"newCommandQueue", "newSharedEvent", "commandBuffer", "blitCommandEncoder",
	"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", "fillBuffer:range:value:", "endEncoding",
	"encodeSignalEvent:value:", "encodeWaitForEvent:value:", "commit", "waitUntilCompleted", "status", "error",
	"code", "localizedDescription", "signaledValue", "setSignaledValue:",
}

// What messages are about, as in the headers.
const (
	storageShared  = 0x00
	storagePrivate = 0x20

	statusCompleted = 4
	statusFailed    = 5
)

// An api is the functions that are called. All arguments and results are integers of
// at most a register, and no method gets more than eight.
type api struct {
	call func(fn uintptr, args ...uintptr) (r1, r2, errno uintptr)

	send, registerName      uintptr // of the runtime of Objective-C
	poolPush, poolPop       uintptr
	systemDevice, allDevice uintptr // of Metal
	sel                     [selectors]uintptr
}

// register looks up the selectors.
func (a *api) register() {
	for i, name := range selectorNames {
		text := append([]byte(name), 0)
		var pin runtime.Pinner
		pin.Pin(&text[0])
		a.sel[i], _, _ = a.call(a.registerName, uintptr(unsafe.Pointer(&text[0])))
		pin.Unpin()
	}
}

// tell sends a message. A message to nil gives 0.
func (a *api) tell(to id, s selector, args ...uintptr) uintptr {
	r, _, _ := a.call(a.send, append([]uintptr{uintptr(to), a.sel[s]}, args...)...)
	return r
}

// ask is tell for an object.
func (a *api) ask(to id, s selector, args ...uintptr) id { return id(a.tell(to, s, args...)) }

// keep makes an object that is autoreleased the caller's, to release.
func (a *api) keep(o id) id {
	if o != 0 {
		a.tell(o, selRetain)
	}
	return o
}

func (a *api) release(o id) {
	if o != 0 {
		a.tell(o, selRelease)
	}
}

// pooled makes calls that autorelease objects. What is autoreleased belongs to a pool of the
// thread; goroutines change threads, and their threads have none. So the goroutine
// stays on its thread from push to pop.
func (a *api) pooled(calls func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pool, _, _ := a.call(a.poolPush)
	defer a.call(a.poolPop, pool)
	calls()
}

// text is an NSString's.
func (a *api) text(s id) string {
	at := pointer(a.tell(s, selUTF8String))
	if at == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(at, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(at), n))
}

// pointer is the address of memory of C.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
