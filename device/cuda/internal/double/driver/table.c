// The table of allocations, sorted by address, and how much memory is left.

#define _GNU_SOURCE
#include "double.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 512 };

// No address of a program has this bit on amd64 or arm64, which ignores the eight above it.
static const CUdeviceptr tag = 1ULL << 55;

CUdeviceptr tagged(void *real) { return (CUdeviceptr)(uintptr_t)real | tag; }

static struct block *table;
static size_t count, space;
static size_t used[8];

// Memory of the host has as much room as a device, and that of all devices shares it.
enum { ON_HOST = 7 };

// above returns the first index whose block begins above addr.
static size_t above(CUdeviceptr addr) {
	size_t lo = 0, hi = count;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (table[mid].addr > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct block *find(CUdeviceptr addr, size_t n) {
	size_t i = above(addr);
	if (i == 0)
		return NULL;
	struct block *b = &table[i - 1];
	if (addr - b->addr > b->size || n > b->size - (addr - b->addr))
		return NULL;
	for (size_t at = addr - b->addr, end = at + n; b->pages && at < end; at = (at / settings.grain + 1) * settings.grain)
		if (!b->pages[at / settings.grain].accessible)
			return NULL;
	return b;
}

char *address_of(CUdeviceptr addr, size_t n) {
	struct block *b = find(addr, n);
	if (b)
		return b->ready ? b->real + (addr - b->addr) : NULL;
	// Whatever is tagged was device memory once; the rest is pageable.
	return addr & tag || !addr ? NULL : (char *)(uintptr_t)addr;
}

CUresult insert(struct block b) {
	if (count == space) {
		space = space ? 2 * space : 64;
		table = realloc(table, space * sizeof *table);
	}
	size_t i = above(b.addr);
	memmove(&table[i + 1], &table[i], (count - i) * sizeof *table);
	table[i] = b;
	count++;
	return CUDA_SUCCESS;
}

bool room(int device, size_t size) {
	if (size > settings.capacity - used[device])
		return false;
	used[device] += size;
	return true;
}

void give(int device, size_t size) { used[device] -= size; }

// account is where memory of a kind counts, -1 where it does not.
static int account(enum kind kind, int device) {
	if (kind & (REGISTERED | RANGE))
		return -1;
	return kind == HOST ? ON_HOST : device;
}

CUresult make(enum kind kind, size_t size, CUdeviceptr *addr) {
	CUresult r = allocating();
	if (r != CUDA_SUCCESS)
		return r;
	if (size == 0) {
		mistake("an allocation of 0 bytes");
		return CUDA_ERROR_INVALID_VALUE;
	}
	int device = current(), on = account(kind, device);
	// Managed memory may exceed the device's on the driver; here everything has a bound.
	if (!room(on, size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	void *real = NULL;
	if (posix_memalign(&real, ALIGN, size) != 0) {
		give(on, size);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	memset(real, FRESH, size);
	*addr = kind & (PLAIN | POOLED) ? tagged(real) : (CUdeviceptr)(uintptr_t)real;
	return insert((struct block){*addr, real, size, kind, device, true, NULL, 0});
}

CUresult drop(CUdeviceptr addr, int kinds) {
	struct block *b = find(addr, 0);
	if (!b || b->addr != addr || !(b->kind & kinds)) {
		mistake("a free of %#llx, which is not allocated so", addr);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (account(b->kind, b->device) >= 0)
		give(account(b->kind, b->device), b->size);
	if (b->kind != REGISTERED && b->kind != RANGE) {
		memset(b->real, ~FRESH, b->size);
		free(b->real);
	}
	memmove(b, b + 1, (size_t)(&table[--count] - b) * sizeof *table);
	return CUDA_SUCCESS;
}

// blocks says how many are out, for tests of leaks.
long bufslab_double_blocks(void) {
	lock();
	long n = (long)count;
	leave(CUDA_SUCCESS);
	return n;
}

CUresult cuMemGetInfo(size_t *available, size_t *total) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS) {
		*total = settings.capacity;
		*available = settings.capacity - used[current()];
	}
	return leave(r);
}
