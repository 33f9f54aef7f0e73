// Streams and events. A lazy stream does its work when a call waits for it;
// a query does one piece, so that a loop of queries ends.

#include "double.h"

#include <stdlib.h>
#include <string.h>

struct CUstream_st {
	int device;
	bool gone;
	struct op *first, **last;
	unsigned long asked, done; // pieces of work so far
	CUstream next;             // of all there ever were
};
static CUstream streams;

// An event is over when its stream has done as much as it was asked for then.
struct CUevent_st {
	int device;
	CUstream stream;
	unsigned long asked;
};

static bool pending(CUevent e) { return e->stream && e->stream->done < e->asked; }

static CUresult drain(CUstream s, unsigned long until);

// bytes moves them as hardware does that copies from the front whatever overlaps.
static void bytes(char *dst, const char *src, size_t n) {
	if (dst + n <= src || src + n <= dst)
		memcpy(dst, src, n);
	else
		for (size_t i = 0; i < n; i++)
			dst[i] = src[i];
}

// perform does one piece of work. Memory that is gone by now loses the
// device, as it does on the driver.
static CUresult perform(struct op *o) {
	char *dst = NULL, *src = NULL;
	switch (o->what) {
	case COPY:
	case FILL:
		dst = address_of(o->dst, o->n);
		src = o->what == COPY ? address_of(o->src, o->n) : dst;
		if (!dst || !src) {
			mistake("work on memory that was freed before the work was done");
			return lost(CUDA_ERROR_ILLEGAL_ADDRESS);
		}
		if (o->what == COPY)
			bytes(dst, src, o->n);
		else
			memset(dst, o->value, o->n);
		return CUDA_SUCCESS;
	case AWAIT:
		return drain(o->stream, o->until);
	case READY: {
		struct block *b = find(o->dst, 0);
		if (b)
			b->ready = true;
		return CUDA_SUCCESS;
	}
	case DROP:
		return drop(o->dst, POOLED);
	}
	return CUDA_ERROR_UNKNOWN;
}

// step does the first piece of work of a stream.
static CUresult step(CUstream s) {
	struct op *o = s->first;
	CUresult r = perform(o);
	s->first = o->next;
	if (!s->first)
		s->last = &s->first;
	s->done++;
	free(o);
	return r;
}

// drain works until so much is done.
static CUresult drain(CUstream s, unsigned long until) {
	CUresult r = CUDA_SUCCESS;
	while (r == CUDA_SUCCESS && s->done < until)
		r = step(s);
	return r;
}

CUresult enqueue(CUstream s, struct op op) {
	if (!s || s->gone) {
		mistake("work for a stream that is not there");
		return CUDA_ERROR_INVALID_HANDLE;
	}
	if (s->device != current()) {
		mistake("work for a stream of another context");
		return CUDA_ERROR_INVALID_HANDLE;
	}
	struct op *o = malloc(sizeof *o);
	*o = op;
	o->next = NULL;
	*s->last = o;
	s->last = &o->next;
	s->asked++;
	return settings.lazy ? CUDA_SUCCESS : drain(s, s->asked);
}

CUresult cuStreamCreate(CUstream *s, unsigned int flags) {
	CUresult r = enter();
	(void)flags;
	if (r == CUDA_SUCCESS) {
		*s = calloc(1, sizeof **s);
		(*s)->device = current();
		(*s)->last = &(*s)->first;
		(*s)->next = streams;
		streams = *s;
	}
	return leave(r);
}

// cuStreamDestroy leaves the struct behind: events point to it.
CUresult cuStreamDestroy(CUstream s) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS) {
		r = drain(s, s->asked);
		s->gone = true;
	}
	return leave(r);
}

CUresult cuStreamSynchronize(CUstream s) {
	CUresult r = enter();
	return leave(r == CUDA_SUCCESS ? drain(s, s->asked) : r);
}

CUresult cuCtxSynchronize(void) {
	CUresult r = enter();
	for (CUstream s = streams; s && r == CUDA_SUCCESS; s = s->next)
		if (s->device == current())
			r = drain(s, s->asked);
	return leave(r);
}

CUresult cuStreamQuery(CUstream s) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS && s->first) {
		r = step(s);
		if (r == CUDA_SUCCESS)
			r = CUDA_ERROR_NOT_READY;
	}
	return leave(r);
}

CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags) {
	(void)flags;
	CUresult r = enter();
	if (r == CUDA_SUCCESS && pending(e))
		r = enqueue(s, (struct op){.what = AWAIT, .stream = e->stream, .until = e->asked});
	return leave(r);
}

CUresult cuEventCreate(CUevent *e, unsigned int flags) {
	(void)flags;
	CUresult r = enter();
	if (r == CUDA_SUCCESS) {
		*e = calloc(1, sizeof **e);
		(*e)->device = current();
	}
	return leave(r);
}

CUresult cuEventDestroy(CUevent e) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS)
		free(e);
	return leave(r);
}

CUresult cuEventRecord(CUevent e, CUstream s) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS && (!s || s->gone || e->device != s->device)) {
		mistake("a record of an event in a stream that is gone or of another context");
		r = CUDA_ERROR_INVALID_HANDLE;
	}
	if (r == CUDA_SUCCESS) {
		e->stream = s;
		e->asked = s->asked;
	}
	return leave(r);
}

CUresult cuEventQuery(CUevent e) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS && pending(e)) {
		r = step(e->stream);
		if (r == CUDA_SUCCESS)
			r = CUDA_ERROR_NOT_READY;
	}
	return leave(r);
}

CUresult cuEventSynchronize(CUevent e) {
	CUresult r = enter();
	if (r == CUDA_SUCCESS && pending(e))
		r = drain(e->stream, e->asked);
	return leave(r);
}
