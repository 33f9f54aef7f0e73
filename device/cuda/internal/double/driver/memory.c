// Allocation, by every way that needs no stream.

#include "double.h"

static CUresult allocate(enum kind kind, CUdeviceptr *p, size_t size) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS)
		r = make(kind, size, p);
	cost();
	return leave(r);
}

static CUresult release(int kinds, CUdeviceptr p) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS)
		r = drop(p, kinds);
	return leave(r);
}

CUresult cuMemAlloc(CUdeviceptr *p, size_t size) { return allocate(PLAIN, p, size); }

CUresult cuMemAllocManaged(CUdeviceptr *p, size_t size, unsigned int flags) {
	return flags == CU_MEM_ATTACH_GLOBAL ? allocate(MANAGED, p, size) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemFree(CUdeviceptr p) { return release(PLAIN | MANAGED | POOLED, p); }

CUresult cuMemHostAlloc(void **p, size_t size, unsigned int flags) {
	CUdeviceptr addr = 0;
	(void)flags;
	CUresult r = allocate(HOST, &addr, size);
	*p = (void *)(uintptr_t)addr;
	return r;
}

CUresult cuMemFreeHost(void *p) { return release(HOST, (CUdeviceptr)(uintptr_t)p); }

CUresult cuMemHostRegister(void *p, size_t size, unsigned int flags) {
	(void)flags;
	CUdeviceptr addr = (CUdeviceptr)(uintptr_t)p;
	CUresult r = enter();
	if (r == CUDA_SUCCESS)
		r = allocating();
	if (r == CUDA_SUCCESS && (size == 0 || !p))
		r = CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_SUCCESS && (find(addr, 1) || find(addr + size - 1, 1)))
		r = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	if (r == CUDA_SUCCESS)
		r = insert((struct block){addr, p, size, REGISTERED, current(), true, NULL, 0});
	return leave(r);
}

CUresult cuMemHostUnregister(void *p) { return release(REGISTERED, (CUdeviceptr)(uintptr_t)p); }
