// Queues, command buffers, encoders and events. A lazy command buffer does its work
// when a call waits for it; unless it is told to be lazier still, a look at its status or at
// an event does that of one, so that a loop of looks ends.

#include "double.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

static struct queue *all_queues;

static void keep(struct commands *c, void *object) {
	if (!c->unretained && object)
		retain(object);
}

static void let_go(struct commands *c, void *object) {
	if (!c->unretained && object)
		release(object);
}

static void append(struct commands *c, struct op op) {
	struct op *o = malloc(sizeof *o);
	*o = op;
	o->next = NULL;
	*c->last = o;
	c->last = &o->next;
	keep(c, op.dst), keep(c, op.src), keep(c, op.event);
}

static void drop_first(struct commands *c) {
	struct op *o = c->first;
	c->first = o->next;
	if (!c->first)
		c->last = &c->first;
	let_go(c, o->dst), let_go(c, o->src), let_go(c, o->event);
	free(o);
}

static void raise(struct event *e, uint64_t value) {
	if (value <= e->value)
		mistake("an event goes from %lu to %lu", (long)e->value, (long)value);
	e->value = value;
}

// gone says that work uses a buffer that its command buffer did not keep.
static bool gone(struct buffer *b) {
	if (!b || b->head.refs > 0)
		return false;
	mistake("work on a buffer that was freed before the work was done");
	return true;
}

// The GPU moves words of 4 bytes. No sanitizer of the program's is asked what it may reach.
static void copy_words(void *dst, const void *src, size_t n) {
	volatile uint32_t *to = dst;
	for (const volatile uint32_t *from = src; n > 0; n -= 4)
		*to++ = *from++;
}

static void fill_words(void *dst, unsigned char value, size_t n) {
	for (volatile uint32_t *to = dst; n > 0; n -= 4)
		*to++ = value * 0x01010101u;
}

// perform does one op. It returns a code for which the command buffer fails.
static long perform(struct op *o) {
	if (gone(o->dst) || gone(o->src))
		return 3;
	switch (o->what) {
	case COPY:
		copy_words(o->dst->bytes + o->to, o->src->bytes + o->from, o->n);
		break;
	case FILL:
		fill_words(o->dst->bytes + o->to, o->value, o->n);
		break;
	case SIGNAL:
		raise(o->event, o->count);
		break;
	case AWAIT:
		break;
	}
	return 0;
}

// end takes the first command buffer out of its queue. What is left of it is not done, and
// its events are not signalled.
static void end(struct queue *q, long code) {
	struct commands *c = q->first;
	while (c->first)
		drop_first(c);
	c->code = code;
	c->status = code ? FAILED : COMPLETED;
	q->first = c->next;
	if (!q->first)
		q->last = &q->first;
	q->uncompleted--;
	release(c);
}

// signaller returns the queue whose work will signal an event, if there is one.
static struct queue *signaller(struct event *e, uint64_t value) {
	for (struct queue *q = all_queues; q; q = q->next)
		for (struct commands *c = q->first; c; c = c->next)
			for (struct op *o = c->first; o; o = o->next)
				if (o->what == SIGNAL && o->event == e && o->count >= value)
					return q;
	return NULL;
}

// drive does the first command buffer of a queue, or what that waits for. It reports
// false where nothing can be done.
static bool drive(struct queue *q, int depth) {
	struct commands *c = q->first;
	if (!c || depth > 64)
		return false;
	if (c->code) {
		end(q, c->code);
		return true;
	}
	long code = 0;
	while (!code && c->first) {
		struct op *o = c->first;
		if (o->what == AWAIT && o->event->value < o->count) {
			struct queue *other = signaller(o->event, o->count);
			if (!other || other == q || !drive(other, depth + 1))
				return false;
			continue;
		}
		code = perform(o);
		drop_first(c);
	}
	end(q, code);
	return true;
}

static long seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

// rest lets others go on where nothing can be done. It reports false after a while.
static bool rest(long since) {
	unlock();
	sched_yield();
	lock();
	return seconds() - since < settings.patience;
}

static void drain(struct commands *c) {
	for (long since = seconds(); c->status < COMPLETED;)
		if (!drive(c->queue, 0) && !rest(since)) {
			mistake("a wait for work that waits for ever");
			return;
		}
}

// new_commands blocks where too many are not completed.
static uintptr_t new_commands(struct queue *q, bool unretained) {
	if (refused(COMMANDS))
		return 0;
	if (q->uncompleted >= settings.uncompleted) {
		mistake("a command buffer behind %d that are not completed: the call blocks", q->uncompleted);
		for (long since = seconds(); q->uncompleted >= settings.uncompleted;)
			if (!drive(q, 0) && !rest(since))
				break;
	}
	struct commands *c = make(COMMANDS, sizeof *c);
	c->queue = q, c->last = &c->first, c->unretained = unretained;
	q->uncompleted++;
	retain(q);
	return (uintptr_t)autorelease(c);
}

static uintptr_t new_queue(void *self, uintptr_t *a) {
	(void)a;
	if (refused(QUEUE))
		return 0;
	struct queue *q = make(QUEUE, sizeof *q);
	q->device = self, q->last = &q->first, q->next = all_queues;
	return (uintptr_t)(all_queues = q);
}

static uintptr_t command_buffer(void *self, uintptr_t *a) {
	(void)a;
	return new_commands(self, false);
}

static uintptr_t unretained(void *self, uintptr_t *a) {
	(void)a;
	return new_commands(self, true);
}

// queue_gone finds no command buffers, as each keeps its queue.
void queue_gone(struct queue *q) {
	struct queue **at = &all_queues;
	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
}

void commands_gone(struct commands *c) {
	while (c->first)
		drop_first(c);
	if (c->status < COMMITTED)
		c->queue->uncompleted--;
	release(c->queue);
}

void encoder_gone(struct encoder *e) {
	if (!e->ended)
		mistake("an encoder goes that was not ended");
	release(e->commands);
}

// open says whether a command buffer takes more, and no encoder is in the way.
static bool open(struct commands *c, const char *what) {
	if (c->status < COMMITTED && !c->encoding)
		return true;
	mistake("%s %s", what, c->encoding ? "while an encoder is not ended" : "after the commit");
	return false;
}

static uintptr_t new_encoder(void *self, uintptr_t *a) {
	(void)a;
	struct commands *c = self;
	if (!open(c, "an encoder") || refused(ENCODER))
		return 0;
	struct encoder *e = make(ENCODER, sizeof *e);
	e->commands = c;
	c->encoding = true;
	retain(c);
	return (uintptr_t)autorelease(e);
}

static uintptr_t end_encoding(void *self, uintptr_t *a) {
	(void)a;
	struct encoder *e = self;
	if (e->ended)
		mistake("an encoder is ended twice");
	e->ended = true;
	e->commands->encoding = false;
	return 0;
}

// in says whether n bytes are in a buffer, and as a blit wants them.
static bool in(struct buffer *b, size_t at, size_t n, const char *what) {
	if (!alive(b, BUFFER))
		return false;
	if (n == 0 || at > b->length || n > b->length - at)
		mistake("%s of %zu bytes at %zu of a buffer of %zu", what, n, at, b->length);
	else if (at % 4 || n % 4)
		mistake("%s of %zu bytes at %zu, which are no multiples of 4", what, n, at);
	else
		return true;
	return false;
}

static bool encodes(struct encoder *e) {
	if (!e->ended)
		return true;
	mistake("an encoder is used after its end");
	return false;
}

static uintptr_t copy(void *self, uintptr_t *a) {
	struct encoder *e = self;
	struct buffer *src = (struct buffer *)a[0], *dst = (struct buffer *)a[2];
	size_t from = a[1], to = a[3], n = a[4];
	if (!encodes(e) || !in(src, from, n, "a copy") || !in(dst, to, n, "a copy"))
		return 0;
	if (src == dst && to < from + n && from < to + n) {
		mistake("a copy of %zu bytes that overlaps itself", n);
		return 0;
	}
	append(e->commands, (struct op){.what = COPY, .dst = dst, .src = src, .to = to, .from = from, .n = n});
	return 0;
}

static uintptr_t fill(void *self, uintptr_t *a) {
	struct encoder *e = self;
	struct buffer *b = (struct buffer *)a[0];
	if (encodes(e) && in(b, a[1], a[2], "a fill"))
		append(e->commands, (struct op){.what = FILL, .dst = b, .to = a[1], .n = a[2], .value = (unsigned char)a[3]});
	return 0;
}

static uintptr_t encode_event(struct commands *c, uintptr_t *a, int what) {
	struct event *e = alive((void *)a[0], EVENT);
	if (e && open(c, "an event"))
		append(c, (struct op){.what = what, .event = e, .count = a[1]});
	return 0;
}

static uintptr_t encode_signal(void *self, uintptr_t *a) { return encode_event(self, a, SIGNAL); }
static uintptr_t encode_wait(void *self, uintptr_t *a) { return encode_event(self, a, AWAIT); }

static uintptr_t commit(void *self, uintptr_t *a) {
	(void)a;
	struct commands *c = self;
	struct queue *q = c->queue;
	if (!open(c, "a commit"))
		return 0;
	c->status = COMMITTED;
	c->code = failure();
	retain(c);
	*q->last = c;
	q->last = &c->next;
	while (!settings.lazy && drive(q, 0))
		;
	return 0;
}

static uintptr_t wait_completed(void *self, uintptr_t *a) {
	(void)a;
	struct commands *c = self;
	if (c->status < COMMITTED) {
		mistake("a wait for a command buffer that was not committed");
		return 0;
	}
	retain(c);
	drain(c);
	release(c);
	return 0;
}

static uintptr_t status(void *self, uintptr_t *a) {
	(void)a;
	struct commands *c = self;
	int was = c->status;
	if (was == COMMITTED && settings.lazy < 2)
		drive(c->queue, 0);
	return (uintptr_t)was;
}

static uintptr_t error(void *self, uintptr_t *a) {
	(void)a;
	struct commands *c = self;
	if (c->status != FAILED)
		return 0;
	struct error *e = make(ERROR, sizeof *e);
	e->code = c->code;
	return (uintptr_t)autorelease(e);
}

static uintptr_t signaled(void *self, uintptr_t *a) {
	(void)a;
	struct event *e = self;
	uint64_t was = e->value;
	struct queue *q = settings.lazy < 2 ? signaller(e, was + 1) : NULL;
	if (q)
		drive(q, 0);
	return (uintptr_t)was;
}

static uintptr_t set_signaled(void *self, uintptr_t *a) {
	raise(self, a[0]);
	return 0;
}

const struct selector queue_methods[] = {
	{DEVICE, "newCommandQueue", new_queue},
	{QUEUE, "commandBuffer", command_buffer},
	{QUEUE, "commandBufferWithUnretainedReferences", unretained},
	{COMMANDS, "blitCommandEncoder", new_encoder},
	{COMMANDS, "encodeSignalEvent:value:", encode_signal},
	{COMMANDS, "encodeWaitForEvent:value:", encode_wait},
	{COMMANDS, "commit", commit},
	{COMMANDS, "waitUntilCompleted", wait_completed},
	{COMMANDS, "status", status},
	{COMMANDS, "error", error},
	{ENCODER, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", copy},
	{ENCODER, "fillBuffer:range:value:", fill},
	{ENCODER, "endEncoding", end_encoding},
	{EVENT, "signaledValue", signaled},
	{EVENT, "setSignaledValue:", set_signaled},
	{CLASSES, NULL, NULL},
};
