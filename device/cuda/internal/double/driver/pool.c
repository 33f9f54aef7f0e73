// Memory pools. Nothing is kept: what counts is the order of their work.

#include "double.h"

#include <stdlib.h>

#if CUDA_VERSION < 11020
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef int CUmemPool_attribute;
typedef struct {
	int allocType, handleTypes;
	struct {
		int type, id;
	} location;
	void *security;
	unsigned char reserved[64];
} CUmemPoolProps;
#endif

struct CUmemPoolHandle_st { int device; };

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *p) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS && (p->allocType != 1 || p->location.type != 1 || p->location.id >= settings.devices))
		r = CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_SUCCESS) {
		*pool = malloc(sizeof **pool);
		(*pool)->device = p->location.id;
	}
	return leave(r);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
	CUresult r = enter();
	free(pool);
	return leave(r);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute a, void *value) {
	(void)pool, (void)value;
	return a == 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t size, CUmemoryPool pool, CUstream s) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS && pool->device != current())
		r = CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_SUCCESS)
		r = make(POOLED, size, p);
	if (r == CUDA_SUCCESS) {
		find(*p, 0)->ready = false;
		r = enqueue(s, (struct op){.what = READY, .dst = *p});
	}
	return leave(r);
}

CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) {
	CUresult r = enter();
	struct block *b = find(p, 0);
	if (r == CUDA_SUCCESS && (!b || b->addr != p || b->kind != POOLED)) {
		mistake("a free of %#llx, which is of no pool", p);
		r = CUDA_ERROR_INVALID_VALUE;
	}
	if (r == CUDA_SUCCESS)
		r = enqueue(s, (struct op){.what = DROP, .dst = p});
	return leave(r);
}
