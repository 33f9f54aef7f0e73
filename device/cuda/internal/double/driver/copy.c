// Copies and fills, all of them work of a stream.

#include "double.h"

// on says whether memory may be used by a call that wants it on the device,
// or does not care.
static CUresult on(CUdeviceptr p, size_t n, bool device) {
	struct block *b = find(p, n);
	if (b && (!device || !(b->kind & (HOST | REGISTERED))))
		return b->device == current() || b->kind & (HOST | REGISTERED | MANAGED) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (!device && !b && !find(p, 0) && address_of(p, n))
		return CUDA_SUCCESS; // pageable
	mistake("%zu bytes at %#llx are not allocated", n, p);
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy(CUdeviceptr dst, bool to, CUdeviceptr src, bool from, size_t n, CUstream s) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS)
		r = on(dst, n, to);
	if (r == CUDA_SUCCESS)
		r = on(src, n, from);
	if (r == CUDA_SUCCESS && dst < src + n && src < dst + n)
		mistake("a copy of %zu bytes that overlaps itself", n);
	if (r == CUDA_SUCCESS)
		r = enqueue(s, (struct op){.what = COPY, .dst = dst, .src = src, .n = n});
	return leave(r);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) { return copy(dst, false, src, false, n, s); }

CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) { return copy(dst, true, src, true, n, s); }

CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t n, CUstream s) {
	return copy(dst, true, (CUdeviceptr)(uintptr_t)src, false, n, s);
}

CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t n, CUstream s) {
	return copy((CUdeviceptr)(uintptr_t)dst, false, src, true, n, s);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, CUstream s) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS && !find(dst, n)) {
		mistake("a fill of %zu bytes at %#llx, which are not allocated", n, dst);
		r = CUDA_ERROR_INVALID_VALUE;
	}
	if (r == CUDA_SUCCESS)
		r = enqueue(s, (struct op){.what = FILL, .dst = dst, .n = n, .value = value});
	return leave(r);
}
