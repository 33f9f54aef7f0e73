//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

// The driver's calls on virtual memory, which package cu does not have.

/*
#include <cuda.h>

static CUmemAllocationProp properties(int ordinal) {
	CUmemAllocationProp p = {0};
	p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.location.id = ordinal;
	return p;
}

static CUresult granularity(int ordinal, size_t *page) {
	CUmemAllocationProp p = properties(ordinal);
	return cuMemGetAllocationGranularity(page, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

// commit puts memory behind a page. The handle is not needed: what is mapped lives until it is unmapped.
static CUresult commit(CUdeviceptr p, size_t page, int ordinal) {
	CUmemAllocationProp properties_ = properties(ordinal);
	CUmemGenericAllocationHandle h;
	CUresult r = cuMemCreate(&h, page, &properties_, 0);
	if (r != CUDA_SUCCESS)
		return r;
	r = cuMemMap(p, page, 0, h, 0);
	cuMemRelease(h);
	if (r != CUDA_SUCCESS)
		return r;
	CUmemAccessDesc access = {.location = properties_.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	r = cuMemSetAccess(p, page, &access, 1);
	if (r != CUDA_SUCCESS)
		cuMemUnmap(p, page);
	return r;
}
*/
import "C"

import "gorgonia.org/cu"

func granularity(ordinal int) (page int, err error) {
	var n C.size_t
	err = result(C.granularity(C.int(ordinal), &n))
	return int(n), err
}

func addressReserve(size int) (cu.DevicePtr, error) {
	var p C.CUdeviceptr
	err := result(C.cuMemAddressReserve(&p, C.size_t(size), 0, 0, 0))
	return cu.DevicePtr(p), err
}

func addressFree(p cu.DevicePtr, size int) error {
	return result(C.cuMemAddressFree(C.CUdeviceptr(p), C.size_t(size)))
}

func commit(p cu.DevicePtr, page, ordinal int) error {
	return result(C.commit(C.CUdeviceptr(p), C.size_t(page), C.int(ordinal)))
}

func unmap(p cu.DevicePtr, size int) error {
	return result(C.cuMemUnmap(C.CUdeviceptr(p), C.size_t(size)))
}
