// Devices, contexts, and what happens to calls on purpose.

#define _GNU_SOURCE
#include "double.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_DEVICES = 4, MAX_STACK = 16 };

struct CUctx_st { int retained; };

struct settings settings;
static struct CUctx_st contexts[MAX_DEVICES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread CUcontext stack[MAX_STACK];
static __thread int depth;
static bool initialized;
static CUresult loss;            // what a lost device says
static long loss_in, fail_in;    // calls until it happens, 0 for never
static CUresult loss_code, fail_code;
static long mistakes;
static unsigned long calls;

static long variable(const char *name, long otherwise) {
	const char *text = getenv(name);
	return text && *text ? strtol(text, NULL, 0) : otherwise;
}

__attribute__((constructor)) static void configure(void) {
	settings.init = (CUresult)variable("CUDA_DOUBLE_INIT", 0);           // what cuInit says
	settings.devices = (int)variable("CUDA_DOUBLE_DEVICES", 2);
	settings.driver = (int)variable("CUDA_DOUBLE_VERSION", 12000);
	settings.lazy = variable("CUDA_DOUBLE_LAZY", 0) != 0;
	settings.pools = variable("CUDA_DOUBLE_POOLS", 1) != 0;              // 0: no memory pools
	settings.ranges = variable("CUDA_DOUBLE_RANGES", 1) != 0;            // 0: no virtual memory
	settings.concurrent = variable("CUDA_DOUBLE_CONCURRENT", 1) != 0;    // 0: managed memory is the GPU's alone while it works
	settings.capacity = (size_t)variable("CUDA_DOUBLE_BYTES", 1L << 30); // of each device, and of pinned memory
	settings.grain = (size_t)variable("CUDA_DOUBLE_GRAIN", 64 << 10);    // of virtual memory
	settings.cost_us = variable("CUDA_DOUBLE_COST_US", 0);               // of an allocation
}

void lock(void) { pthread_mutex_lock(&mutex); }

CUresult leave(CUresult r) {
	pthread_mutex_unlock(&mutex);
	return r;
}

int current(void) { return depth == 0 || !stack[depth - 1] ? -1 : (int)(stack[depth - 1] - contexts); }

CUresult lost(CUresult code) { return loss = code; }

CUresult enter(void) {
	lock();
	calls++;
	if (!initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (loss_in > 0 && --loss_in == 0)
		lost(loss_code);
	if (loss)
		return loss;
	if (current() < 0) {
		mistake("a call without a current context");
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	return CUDA_SUCCESS;
}

void mistake(const char *format, ...) {
	va_list args;
	va_start(args, format);
	mistakes++;
	fprintf(stderr, "cuda double: mistake: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
}

CUresult allocating(void) { return fail_in > 0 && --fail_in == 0 ? fail_code : CUDA_SUCCESS; }

static long now_us(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

// cost keeps the processor, as the driver does.
void cost(void) {
	if (settings.cost_us > 0)
		for (long end = now_us() + settings.cost_us; now_us() < end;)
			;
}

// Below is what package double calls.

void bufslab_double_fail(long n, int code) {
	lock();
	fail_in = n, fail_code = (CUresult)code;
	leave(CUDA_SUCCESS);
}

void bufslab_double_lose(long n, int code) {
	lock();
	loss_in = n, loss_code = (CUresult)code, loss = CUDA_SUCCESS;
	leave(CUDA_SUCCESS);
}

long bufslab_double_mistakes(void) {
	lock();
	long n = mistakes;
	mistakes = 0;
	leave(CUDA_SUCCESS);
	return n;
}

unsigned long bufslab_double_calls(void) { return calls; }

// The driver's.

CUresult cuInit(unsigned int flags) {
	lock();
	initialized = settings.init == CUDA_SUCCESS && flags == 0;
	return leave(settings.init);
}

CUresult cuDriverGetVersion(int *version) {
	*version = settings.driver;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
	*count = settings.devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
	if (ordinal < 0 || ordinal >= settings.devices)
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice device) {
	snprintf(name, (size_t)len, "CUDA driver double %d", device);
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
	(void)device;
	*bytes = settings.capacity;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice device) {
	(void)device;
	switch ((int)a) {
	case 41: // unified addressing
	case 83: // managed memory
		*value = 1;
		break;
	case 89: // concurrent managed access
		*value = settings.concurrent;
		break;
	case 102: // virtual memory management
		*value = settings.ranges;
		break;
	case 115: // memory pools
		*value = settings.pools;
		break;
	default:
		*value = 0;
	}
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
	lock();
	contexts[device].retained++;
	*context = &contexts[device];
	return leave(loss);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
	lock();
	contexts[device].retained--;
	return leave(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context) {
	if (depth == 0)
		depth = 1;
	stack[depth - 1] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
	*context = depth == 0 ? NULL : stack[depth - 1];
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
	if (depth == MAX_STACK)
		return CUDA_ERROR_INVALID_VALUE;
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context) {
	if (depth == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (context)
		*context = stack[depth];
	return CUDA_SUCCESS;
}
