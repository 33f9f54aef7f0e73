//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

// Calls of the driver that package cu does not have.

/*
#cgo LDFLAGS: -ldl
#include <cuda.h>
#include "driver.h"

static CUresult host_alloc(size_t size, CUdeviceptr *p) {
	void *host = 0;
	CUresult r = cuMemHostAlloc(&host, size, CU_MEMHOSTALLOC_PORTABLE);
	*p = (CUdeviceptr)(uintptr_t)host;
	return r;
}

static CUresult host_free(CUdeviceptr p) { return cuMemFreeHost((void *)(uintptr_t)p); }

static CUresult host_unregister(CUdeviceptr p) { return cuMemHostUnregister((void *)(uintptr_t)p); }

static void *host_pointer(CUdeviceptr p) { return (void *)(uintptr_t)p; }
*/
import "C"

import (
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// result is a code as one of package cu's.
func result(r C.CUresult) error { return code(int(r)) }

// initialized returns what the driver said when the program started.
func initialized() error { return result(C.bufslab_init_result) }

func hostAlloc(size int) (cu.DevicePtr, error) {
	var p C.CUdeviceptr
	err := result(C.host_alloc(C.size_t(size), &p))
	return cu.DevicePtr(p), err
}

func hostFree(p cu.DevicePtr) error { return result(C.host_free(C.CUdeviceptr(p))) }

// hostRegister locks the pages of m.
func hostRegister(m []byte) error {
	return result(C.cuMemHostRegister(unsafe.Pointer(unsafe.SliceData(m)), C.size_t(len(m)),
		C.CU_MEMHOSTREGISTER_PORTABLE))
}

func hostUnregister(p cu.DevicePtr) error { return result(C.host_unregister(C.CUdeviceptr(p))) }

// hostBytes is the memory at an address that CPU and GPU share. It is no
// memory of Go.
func hostBytes(p cu.DevicePtr, size int) []byte {
	return unsafe.Slice((*byte)(C.host_pointer(C.CUdeviceptr(p))), size)
}

// A poolHandle is the driver's name of a memory pool.
type poolHandle C.bufslab_pool

// poolsLinked says whether the driver has the functions below, which came
// with CUDA 11.2 and are looked up when the program runs.
var poolsLinked = sync.OnceValue(func() bool { return C.bufslab_pools_find() != 0 })

// poolCreate makes a pool that keeps up to keep free bytes.
func poolCreate(ordinal int, keep uint64) (h poolHandle, err error) {
	err = result(C.bufslab_pool_create(C.int(ordinal), C.ulonglong(keep), (*C.bufslab_pool)(&h)))
	return h, err
}

func poolDestroy(h poolHandle) error { return result(C.bufslab_pool_destroy(C.bufslab_pool(h))) }

func poolAlloc(h poolHandle, size int, q cu.Stream) (cu.DevicePtr, error) {
	var p C.CUdeviceptr
	err := result(C.bufslab_pool_alloc(C.bufslab_pool(h), C.size_t(size), streamOf(q), &p))
	return cu.DevicePtr(p), err
}

func poolFree(p cu.DevicePtr, q cu.Stream) error {
	return result(C.bufslab_pool_free(C.CUdeviceptr(p), streamOf(q)))
}

// streamOf is q as this package's C knows it: cgo gives every package types of its own.
func streamOf(q cu.Stream) C.CUstream { return C.CUstream(unsafe.Pointer(q.C())) }
