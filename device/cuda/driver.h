// What driver.go needs of the driver beyond the header of CUDA 11.0, and of
// what happened before main.

#include <cuda.h>

// bufslab_init_result is what cuInit said.
extern CUresult bufslab_init_result;

typedef void *bufslab_pool;

// bufslab_pools_find looks the functions below up. It returns 0 when the driver lacks one.
int bufslab_pools_find(void);
CUresult bufslab_pool_create(int ordinal, unsigned long long keep, bufslab_pool *pool);
CUresult bufslab_pool_destroy(bufslab_pool pool);
CUresult bufslab_pool_alloc(bufslab_pool pool, size_t size, CUstream stream, CUdeviceptr *p);
CUresult bufslab_pool_free(CUdeviceptr p, CUstream stream);
