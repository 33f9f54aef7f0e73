//go:build cuda && cgo && linux && (amd64 || arm64)

// Memory pools of the driver, which the header of CUDA 11.0 does not have.

#define _GNU_SOURCE
#include <dlfcn.h>

#include "driver.h"

// properties is CUmemPoolProps: 88 bytes in every version so far, those that
// later versions use being reserved and 0 before.
struct properties {
	int allocation; // 1: pinned, the only kind
	int handles;    // 0: not for other processes
	int location;   // 1: a device
	int id;         // its ordinal
	void *security;
	unsigned char reserved[64];
};

// releaseThreshold is CU_MEMPOOL_ATTR_RELEASE_THRESHOLD.
enum { releaseThreshold = 4 };

static CUresult (*create)(bufslab_pool *, const struct properties *);
static CUresult (*destroy)(bufslab_pool);
static CUresult (*set)(bufslab_pool, int, void *);
static CUresult (*alloc)(CUdeviceptr *, size_t, bufslab_pool, CUstream);
static CUresult (*release)(CUdeviceptr, CUstream);

static int find(void *function, const char *name) {
	return (*(void **)function = dlsym(RTLD_DEFAULT, name)) != 0;
}

int bufslab_pools_find(void) {
	return find(&create, "cuMemPoolCreate") && find(&destroy, "cuMemPoolDestroy") && find(&set, "cuMemPoolSetAttribute") &&
	       find(&alloc, "cuMemAllocFromPoolAsync") && find(&release, "cuMemFreeAsync");
}

CUresult bufslab_pool_create(int ordinal, unsigned long long keep, bufslab_pool *pool) {
	struct properties p = {.allocation = 1, .location = 1, .id = ordinal};
	CUresult r = create(pool, &p);
	return r != CUDA_SUCCESS ? r : set(*pool, releaseThreshold, &keep);
}

CUresult bufslab_pool_destroy(bufslab_pool pool) { return destroy(pool); }

CUresult bufslab_pool_alloc(bufslab_pool pool, size_t size, CUstream stream, CUdeviceptr *p) {
	return alloc(p, size, pool, stream);
}

CUresult bufslab_pool_free(CUdeviceptr p, CUstream stream) { return release(p, stream); }
