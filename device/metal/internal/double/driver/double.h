// A double of Metal and of the runtime of Objective-C over memory of the host, for
// tests: the part that package metal calls, stricter than the real one.
//
//   - Every object has a count of references. One that is gone stays as a
//     corpse, so that a message to it is noticed.
//   - Objects that are autoreleased go with the pool of their thread, and one
//     without a pool is noticed.
//   - Command buffers can be lazy: their work is done when a call waits for it
//     or asks for it, and not a moment before.
//   - A command buffer that fails signals no event, and those behind it go on.
//   - Objects can be refused, and work can fail late, at the n-th.
//
// What a correct program never does is counted as a mistake and printed. One
// lock guards everything; control.c says which variables of the environment are read.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum class { DEVICE, ARRAY, STRING, BUFFER, QUEUE, COMMANDS, ENCODER, EVENT, ERROR, CLASSES };

// FRESH is what memory holds before it is written.
enum { FRESH = 0xDB };

struct object {
	enum class class;
	long refs;
};

struct device {
	struct object head;
	int number;
	size_t allocated;
};

struct string {
	struct object head;
	char text[128];
};

struct buffer {
	struct object head;
	struct device *device;
	char *bytes;
	size_t length;
	bool private, borrowed; // borrowed: the bytes are the program's
};

struct event {
	struct object head;
	uint64_t value;
};

struct error {
	struct object head;
	long code;
};

// An op is one piece of work of a command buffer.
struct op {
	enum { COPY, FILL, SIGNAL, AWAIT } what;
	struct buffer *dst, *src;
	size_t to, from, n;
	unsigned char value;
	struct event *event;
	uint64_t count;
	struct op *next;
};

// States of a command buffer, as MTLCommandBufferStatus has them.
enum { NOT_ENQUEUED, ENQUEUED, COMMITTED, SCHEDULED, COMPLETED, FAILED };

struct commands {
	struct object head;
	struct queue *queue;
	int status;
	long code; // with which it fails, or has failed
	bool unretained, encoding;
	struct op *first, **last;
	struct commands *next; // of those that are committed and not over
};

struct encoder {
	struct object head;
	struct commands *commands;
	bool ended;
};

struct queue {
	struct object head;
	struct device *device;
	int uncompleted;
	struct commands *first, **last;
	struct queue *next; // of all
};

struct settings {
	long lazy, devices, unified, capacity, longest, uncompleted, patience;
};
extern struct settings settings;

void lock(void);
void unlock(void);
void mistake(const char *format, ...);
bool refused(enum class class); // counts an object that is made: the one to refuse, perhaps
long failure(void);             // counts a command buffer that is committed: the code it fails with

// Objects. make returns one with a reference of the caller's.
void *make(enum class class, size_t size);
void *alive(void *p, enum class class); // p, or NULL and a mistake
void retain(void *p);
void release(void *p);
void *autorelease(void *p);
struct string *string(const char *format, ...);

// What is called when the last reference is gone.
void buffer_gone(struct buffer *b);
void queue_gone(struct queue *q);
void commands_gone(struct commands *c);
void encoder_gone(struct encoder *e);

// A method gets its arguments as objc_msgSend did.
typedef uintptr_t (*method)(void *self, uintptr_t *a);
struct selector {
	enum class class;
	const char *name;
	method call;
};
extern const struct selector device_methods[], queue_methods[];
