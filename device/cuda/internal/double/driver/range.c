// Virtual memory: addresses, memory, and mappings of one to the other.

#define _GNU_SOURCE
#include "double.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// A physical is memory without an address. It lives as long as its handle or a mapping.
struct physical {
	size_t size;
	int device, users;
};

static void unuse(struct physical *p) {
	if (--p->users == 0) {
		give(p->device, p->size);
		free(p);
	}
}

CUresult cuMemGetAllocationGranularity(size_t *grain, const CUmemAllocationProp *p, CUmemAllocationGranularity_flags flags) {
	(void)p, (void)flags;
	*grain = settings.grain;
	return settings.ranges ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

// cuMemAddressReserve has addresses of its own behind the device's, so that the program's limits apply.
CUresult cuMemAddressReserve(CUdeviceptr *p, size_t size, size_t align, CUdeviceptr addr, unsigned long long flags) {
	(void)align, (void)addr, (void)flags;
	CUresult r = enter();
	if (r == CUDA_SUCCESS && (size == 0 || size % settings.grain))
		r = CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_SUCCESS) {
		char *real = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (real == MAP_FAILED)
			return leave(CUDA_ERROR_OUT_OF_MEMORY);
		*p = tagged(real);
		insert((struct block){*p, real, size, RANGE, current(), true, calloc(size / settings.grain, sizeof(struct page)), 0});
	}
	return leave(r);
}

// pages returns those of size bytes at p, which have to be whole.
static struct page *pages(CUdeviceptr p, size_t size, size_t *n) {
	struct block *b = find(p, 0);
	*n = size / settings.grain;
	if (!b || b->kind != RANGE || (p - b->addr) % settings.grain || size % settings.grain || size > b->size - (p - b->addr)) {
		mistake("%zu bytes at %#llx are no pages of a range", size, p);
		return NULL;
	}
	return b->pages + (p - b->addr) / settings.grain;
}

CUresult cuMemAddressFree(CUdeviceptr p, size_t size) {
	CUresult r = enter();
	size_t n = 0;
	struct page *all = r == CUDA_SUCCESS ? pages(p, size, &n) : NULL;
	if (all && find(p, 0)->mapped)
		mistake("a range is given back with memory behind %zu pages", find(p, 0)->mapped);
	if (all) {
		munmap(find(p, 0)->real, size);
		free(all);
		r = drop(p, RANGE);
	}
	return leave(all || r != CUDA_SUCCESS ? r : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *h, size_t size, const CUmemAllocationProp *p, unsigned long long flags) {
	(void)flags;
	CUresult r = enter();
	if (r == CUDA_SUCCESS)
		r = allocating();
	if (r == CUDA_SUCCESS && !room(p->location.id, size))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	if (r == CUDA_SUCCESS) {
		struct physical *m = malloc(sizeof *m);
		*m = (struct physical){size, p->location.id, 1};
		*h = (CUmemGenericAllocationHandle)(uintptr_t)m;
	}
	cost();
	return leave(r);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle h) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS)
		unuse((struct physical *)(uintptr_t)h);
	return leave(r);
}

CUresult cuMemMap(CUdeviceptr p, size_t size, size_t offset, CUmemGenericAllocationHandle h, unsigned long long flags) {
	(void)offset, (void)flags;
	struct physical *m = (struct physical *)(uintptr_t)h;
	CUresult r = enter();
	size_t n = 0;
	struct page *all = r == CUDA_SUCCESS ? pages(p, size, &n) : NULL;
	// One page a mapping is all that is played here.
	if (r == CUDA_SUCCESS && (n != 1 || !all || all->memory || m->size != size)) {
		mistake("a mapping of %zu bytes at %#llx, which is taken or not a page", size, p);
		r = CUDA_ERROR_INVALID_VALUE;
	}
	if (r == CUDA_SUCCESS) {
		all->memory = m;
		m->users++;
		find(p, 0)->mapped++;
	}
	return leave(r);
}

CUresult cuMemSetAccess(CUdeviceptr p, size_t size, const CUmemAccessDesc *access, size_t count) {
	CUresult r = enter();
	size_t n = 0;
	struct page *all = r == CUDA_SUCCESS ? pages(p, size, &n) : NULL;
	if (r == CUDA_SUCCESS && (!all || count != 1 || access->location.id != current()))
		r = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; r == CUDA_SUCCESS && i < n; i++) {
		char *real = find(p, 0)->real + (p - find(p, 0)->addr) + i * settings.grain;
		mprotect(real, settings.grain, PROT_READ | PROT_WRITE);
		memset(real, FRESH, settings.grain);
		all[i].accessible = true;
	}
	return leave(r);
}

CUresult cuMemUnmap(CUdeviceptr p, size_t size) {
	CUresult r = enter();
	size_t n = 0;
	struct page *all = r == CUDA_SUCCESS ? pages(p, size, &n) : NULL;
	for (size_t i = 0; all && i < n; i++) {
		if (!all[i].memory) {
			mistake("page %zu at %#llx is not mapped", i, p);
			return leave(CUDA_ERROR_INVALID_VALUE);
		}
		madvise(find(p, 0)->real + (p - find(p, 0)->addr) + i * settings.grain, settings.grain, MADV_DONTNEED);
		find(p, 0)->mapped--;
		unuse(all[i].memory);
		all[i] = (struct page){0};
	}
	return leave(r);
}
