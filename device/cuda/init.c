//go:build cuda && cgo && linux && (amd64 || arm64)

// Package cu calls cuInit before main and ends the program when it fails. It
// gets this cuInit instead of the driver's, because the linker prefers what is in
// the program to what is in a library. What the driver said is kept until a device is
// opened.

#define _GNU_SOURCE
#include <dlfcn.h>

#include "driver.h"

CUresult bufslab_init_result = CUDA_ERROR_NOT_INITIALIZED;

// Hidden, so that no library of the driver's gets it too.
__attribute__((visibility("hidden"))) CUresult cuInit(unsigned int flags) {
	CUresult (*driver)(unsigned int) = (CUresult (*)(unsigned int))dlsym(RTLD_NEXT, "cuInit");
	if (driver)
		bufslab_init_result = driver(flags);
	return CUDA_SUCCESS;
}
