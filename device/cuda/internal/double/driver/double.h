// A double of libcuda.so.1 over memory of the host, for tests: the memory side
// of the driver, stricter than the driver itself.
//
//   - Addresses of device memory have a bit that makes the CPU fault on them.
//   - Contexts are current to a thread, and nearly every call needs one.
//   - A table of allocations knows double frees and copies out of range.
//   - Streams can be lazy: their work is done when a call waits for it, and
//     not a moment before. Missing synchronisation shows as wrong bytes.
//   - Calls can be made to run out of memory, or to lose the device, at the n-th.
//
// What a correct program never does is counted as a mistake and printed. One
// lock guards everything; context.c says which variables of the environment
// are read.

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

// What a block is, by the call that made it.
enum kind { PLAIN = 1, MANAGED = 2, HOST = 4, REGISTERED = 8, POOLED = 16, RANGE = 32 };

// FRESH is what memory holds before it is written.
enum { FRESH = 0xDB };

// A page of a range.
struct page {
	struct physical *memory;
	bool accessible;
};

// A block is one allocation. It is at addr for programs and at real for the double.
struct block {
	CUdeviceptr addr;
	char *real;
	size_t size;
	enum kind kind;
	int device;
	bool ready; // false until the stream that allocates it gets there
	struct page *pages; // of a range
	size_t mapped;      // of these
};

// settings come from the environment.
struct settings {
	CUresult init;
	int devices, driver;
	bool lazy, pools, ranges, concurrent;
	size_t capacity, grain;
	long cost_us; // of each allocation
};
extern struct settings settings;

// enter begins a call: it takes the lock and says whether the device is lost or no context is
// current. leave ends it.
CUresult enter(void);
CUresult leave(CUresult r);
int current(void); // the device of the calling thread's context, -1 without
void lock(void);
void mistake(const char *format, ...);
CUresult lost(CUresult code); // loses the device
CUresult allocating(void);    // counts an allocation, which may be the one to fail
void cost(void);

// The table. find returns the block that holds all n bytes at addr, with memory behind
// them, or NULL.
struct block *find(CUdeviceptr addr, size_t n);
CUresult make(enum kind kind, size_t size, CUdeviceptr *addr);
CUresult insert(struct block b);
CUresult drop(CUdeviceptr addr, int kinds);
CUdeviceptr tagged(void *real);
bool room(int device, size_t size); // takes it, if there is
void give(int device, size_t size);
char *address_of(CUdeviceptr addr, size_t n); // where the bytes are now, NULL if nowhere

// An op is one piece of work of a stream.
struct op {
	enum { COPY, FILL, AWAIT, READY, DROP } what;
	CUdeviceptr dst, src;
	size_t n;
	unsigned char value;
	CUstream stream; // to wait for
	unsigned long until;
	struct op *next;
};
CUresult enqueue(CUstream s, struct op op);
