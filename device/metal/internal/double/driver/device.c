// Devices and buffers.

#define _GNU_SOURCE
#include "double.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { AHEAD = 1 << 17, MOST = 4, STORAGE = 0xf0, SHARED = 0x00, PRIVATE = 0x20 };

static struct device devices[MOST];

static struct device *device(int number) {
	struct device *d = &devices[number];
	if (d->head.refs == 0)
		*d = (struct device){{DEVICE, 1}, number, 0}; // one reference is nobody's
	retain(d);
	return d;
}

// MTLCreateSystemDefaultDevice returns nil where there is no device.
void *MTLCreateSystemDefaultDevice(void) {
	lock();
	void *d = settings.devices > 0 ? device(0) : NULL;
	unlock();
	return d;
}

// MTLCopyAllDevices lists the default one last.
void *MTLCopyAllDevices(void) {
	lock();
	size_t n = (size_t)settings.devices;
	struct object *list = make(ARRAY, sizeof *list + (n + 1) * sizeof(uintptr_t));
	uintptr_t *items = (uintptr_t *)(list + 1);
	items[0] = n;
	for (size_t i = 0; i < n; i++)
		items[n - i] = (uintptr_t)device((int)i);
	unlock();
	return list;
}

static size_t page(void) { return (size_t)sysconf(_SC_PAGESIZE); }
static size_t whole(size_t n) { return (n + page() - 1) / page() * page(); }

// room takes what a buffer takes of the device, if there is as much.
static bool room(struct device *d, size_t length) {
	if (refused(BUFFER) || length > (size_t)settings.longest || whole(length) > (size_t)settings.capacity - d->allocated)
		return false;
	d->allocated += whole(length);
	return true;
}

static uintptr_t new_buffer(void *self, uintptr_t *a) {
	struct device *d = self;
	size_t length = a[0], storage = a[1] & STORAGE;
	if (length == 0 || (storage != SHARED && storage != PRIVATE)) {
		mistake("a buffer of %zu bytes with the options %#lx", length, (long)a[1]);
		return 0;
	}
	if (!room(d, length))
		return 0;
	struct buffer *b = make(BUFFER, sizeof *b);
	b->device = d, b->length = length, b->private = storage == PRIVATE;
	b->bytes = mmap(NULL, whole(length), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->bytes == MAP_FAILED)
		abort();
	memset(b->bytes, FRESH, length < AHEAD ? length : AHEAD); // the rest would only take time
	return (uintptr_t)b;
}

static uintptr_t new_without_copy(void *self, uintptr_t *a) {
	struct device *d = self;
	if (a[0] % page() || a[1] % page() || a[1] == 0) {
		mistake("%zu bytes at %#lx are no pages, and are not to be copied", (size_t)a[1], (long)a[0]);
		return 0;
	}
	if ((a[2] & STORAGE) != SHARED || a[3] != 0) {
		mistake("bytes that are not copied, with the options %#lx or a deallocator", (long)a[2]);
		return 0;
	}
	if (!settings.unified || !room(d, a[1]))
		return 0;
	struct buffer *b = make(BUFFER, sizeof *b);
	b->device = d, b->length = a[1], b->bytes = (char *)a[0], b->borrowed = true;
	return (uintptr_t)b;
}

void buffer_gone(struct buffer *b) {
	b->device->allocated -= whole(b->length);
	if (!b->borrowed)
		munmap(b->bytes, whole(b->length));
	b->bytes = NULL;
}

static uintptr_t contents(void *self, uintptr_t *a) {
	(void)a;
	struct buffer *b = self;
	if (b->private) {
		mistake("contents of a private buffer");
		return 0;
	}
	return (uintptr_t)b->bytes;
}

static uintptr_t name(void *self, uintptr_t *a) {
	(void)a;
	return (uintptr_t)autorelease(string("Metal double %d", ((struct device *)self)->number));
}

static uintptr_t new_event(void *self, uintptr_t *a) {
	(void)self, (void)a;
	return refused(EVENT) ? 0 : (uintptr_t)make(EVENT, sizeof(struct event));
}

// NUMBER is a method that answers with a number.
#define NUMBER(method, value)                                                                                          \
	static uintptr_t method(void *self, uintptr_t *a) {                                                                \
		(void)self, (void)a;                                                                                           \
		return (uintptr_t)(value);                                                                                     \
	}
NUMBER(registry, 1000 + ((struct device *)self)->number)
NUMBER(unified, settings.unified)
NUMBER(longest, settings.longest)
NUMBER(capacity, settings.capacity)
NUMBER(allocated, ((struct device *)self)->allocated)
NUMBER(length, ((struct buffer *)self)->length)

const struct selector device_methods[] = {
	{DEVICE, "name", name},
	{DEVICE, "registryID", registry},
	{DEVICE, "hasUnifiedMemory", unified},
	{DEVICE, "maxBufferLength", longest},
	{DEVICE, "recommendedMaxWorkingSetSize", capacity},
	{DEVICE, "currentAllocatedSize", allocated},
	{DEVICE, "newBufferWithLength:options:", new_buffer},
	{DEVICE, "newBufferWithBytesNoCopy:length:options:deallocator:", new_without_copy},
	{DEVICE, "newSharedEvent", new_event},
	{BUFFER, "contents", contents},
	{BUFFER, "length", length},
	{CLASSES, NULL, NULL},
};
