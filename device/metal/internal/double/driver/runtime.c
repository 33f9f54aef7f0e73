// The runtime of Objective-C: objects, pools, and messages.

#include "double.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CLASSES] = {"device", "array", "string", "buffer", "queue", "command buffer", "encoder", "event", "error"};
static long living[CLASSES];

void *make(enum class class, size_t size) {
	struct object *o = calloc(1, size);
	o->class = class;
	o->refs = 1;
	living[class]++;
	return o;
}

void *alive(void *p, enum class class) {
	struct object *o = p;
	if (o && o->class == class && o->refs > 0)
		return o;
	mistake("%s that is not there, or gone", names[class]);
	return NULL;
}

void retain(void *p) { ((struct object *)p)->refs++; }

// bury frees a corpse when a few thousand others have come after it.
static void bury(struct object *o) {
	static struct object *graves[4096];
	static size_t next;
	free(graves[next]);
	graves[next] = o;
	next = (next + 1) % (sizeof graves / sizeof *graves);
}

void release(void *p) {
	struct object *o = p;
	if (o->refs <= 0) {
		mistake("released too often: %s", names[o->class]);
		return;
	}
	if (--o->refs > 0)
		return;
	living[o->class]--;
	switch (o->class) {
	case BUFFER:
		buffer_gone(p);
		break;
	case QUEUE:
		queue_gone(p);
		break;
	case COMMANDS:
		commands_gone(p);
		break;
	case ENCODER:
		encoder_gone(p);
		break;
	default:
		break;
	}
	if (o->class != DEVICE)
		bury(o);
}

struct string *string(const char *format, ...) {
	struct string *s = make(STRING, sizeof *s);
	va_list args;
	va_start(args, format);
	vsnprintf(s->text, sizeof s->text, format, args);
	va_end(args);
	return s;
}

// A pool is of the thread that has pushed it.
struct pool {
	struct pool *below;
	void **objects;
	size_t count, space;
};
static __thread struct pool *top;

void *autorelease(void *p) {
	if (!top) {
		mistake("autoreleased on a thread without a pool: %s", names[((struct object *)p)->class]);
		return p; // and never released
	}
	if (top->count == top->space) {
		top->space = top->space ? 2 * top->space : 8;
		top->objects = realloc(top->objects, top->space * sizeof *top->objects);
	}
	top->objects[top->count++] = p;
	return p;
}

void *objc_autoreleasePoolPush(void) {
	struct pool *p = calloc(1, sizeof *p);
	p->below = top;
	return top = p;
}

static bool pushed(struct pool *p) {
	for (struct pool *q = top; q; q = q->below)
		if (q == p)
			return true;
	return false;
}

void objc_autoreleasePoolPop(struct pool *p) {
	lock();
	if (!pushed(p))
		mistake("a pool that this thread has not pushed");
	else
		for (bool last = false; !last;) {
			struct pool *q = top;
			for (size_t i = 0; i < q->count; i++)
				release(q->objects[i]);
			top = q->below;
			last = q == p;
			free(q->objects);
			free(q);
		}
	unlock();
}

// sel_registerName returns one address for each name, for ever.
const char *sel_registerName(const char *name) {
	static char *known[128];
	lock();
	size_t i = 0;
	while (i < 127 && known[i] && strcmp(known[i], name) != 0)
		i++;
	if (!known[i])
		known[i] = strdup(name);
	unlock();
	return known[i];
}

static uintptr_t element(void *self, uintptr_t *a) {
	struct device **list = (struct device **)((struct object *)self + 1);
	return (uintptr_t)list[1 + a[0]];
}
static uintptr_t count(void *self, uintptr_t *a) {
	(void)a;
	return *(uintptr_t *)((struct object *)self + 1);
}
static uintptr_t text(void *self, uintptr_t *a) {
	(void)a;
	return (uintptr_t)((struct string *)self)->text;
}
static uintptr_t code(void *self, uintptr_t *a) {
	(void)a;
	return (uintptr_t)((struct error *)self)->code;
}
static uintptr_t description(void *self, uintptr_t *a) {
	(void)a;
	return (uintptr_t)autorelease(string("the double was told to fail with code %ld", ((struct error *)self)->code));
}

static const struct selector own_methods[] = {
	{ARRAY, "count", count},
	{ARRAY, "objectAtIndex:", element},
	{STRING, "UTF8String", text},
	{ERROR, "code", code},
	{ERROR, "localizedDescription", description},
	{CLASSES, NULL, NULL},
};

static method find(enum class class, const char *op) {
	const struct selector *const all[] = {own_methods, device_methods, queue_methods};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (const struct selector *s = all[i]; s->name; s++)
			if (s->class == class && strcmp(s->name, op) == 0)
				return s->call;
	return NULL;
}

// objc_msgSend takes as many arguments as any method here has. A message to nil is none.
uintptr_t objc_msgSend(struct object *self, const char *op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e) {
	uintptr_t args[] = {a, b, c, d, e}, r = 0;
	if (!self)
		return 0;
	lock();
	if (strcmp(op, "release") == 0)
		release(self);
	else if (self->refs <= 0)
		mistake("message %s to what is gone: %s", op, names[self->class]);
	else if (strcmp(op, "retain") == 0)
		retain(self), r = (uintptr_t)self;
	else {
		method m = find(self->class, op);
		if (m)
			r = m(self, args);
		else
			mistake("%s does not know %s", names[self->class], op);
	}
	unlock();
	return r;
}

// bufslab_double_living says how many objects there are but devices, for tests of leaks.
long bufslab_double_living(void) {
	long n = 0;
	lock();
	for (int c = DEVICE + 1; c < CLASSES; c++)
		n += living[c];
	unlock();
	return n;
}
