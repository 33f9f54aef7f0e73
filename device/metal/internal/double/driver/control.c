// Settings, and what happens to calls on purpose.

#define _GNU_SOURCE
#include "double.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings settings;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long mistakes;
static char last[256];
static long refuse_in[CLASSES]; // objects until one is refused, 0 for never
static long fail_in, fail_code; // command buffers until one fails
static bool is_lost;

enum { DEVICE_REMOVED = 11 };

// The settings, as variables of the environment METAL_DOUBLE_LAZY and so on, and for
// bufslab_double_set.
static const struct {
	const char *name;
	long *value, otherwise;
} variables[] = {
	{"LAZY", &settings.lazy, 0},                 // 1: work is done when it is waited for or looked at; 2: when it is waited for
	{"DEVICES", &settings.devices, 2},           //
	{"UNIFIED", &settings.unified, 1},           // 0: the GPU has memory of its own
	{"BYTES", &settings.capacity, 1L << 30},     // of each device
	{"LONGEST", &settings.longest, 1L << 29},    // buffer
	{"PATIENCE", &settings.patience, 10},        // seconds that a call waits which nothing will ever wake
	{"UNCOMPLETED", &settings.uncompleted, 64},  // command buffers of a queue
};

__attribute__((constructor)) static void configure(void) {
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		char name[64];
		snprintf(name, sizeof name, "METAL_DOUBLE_%s", variables[i].name);
		const char *text = getenv(name);
		*variables[i].value = text && *text ? strtol(text, NULL, 0) : variables[i].otherwise;
	}
}

void lock(void) { pthread_mutex_lock(&mutex); }
void unlock(void) { pthread_mutex_unlock(&mutex); }

void mistake(const char *format, ...) {
	va_list args;
	va_start(args, format);
	vsnprintf(last, sizeof last, format, args);
	va_end(args);
	mistakes++;
	fprintf(stderr, "metal double: mistake: %s\n", last);
}

bool refused(enum class class) { return refuse_in[class] > 0 && --refuse_in[class] == 0; }

long failure(void) {
	if (fail_in > 0 && --fail_in == 0) {
		is_lost = fail_code == DEVICE_REMOVED;
		return fail_code;
	}
	return is_lost ? DEVICE_REMOVED : 0;
}

// Below is what package double calls.

// bufslab_double_set changes a setting and returns what it was.
long bufslab_double_set(const char *name, long value) {
	long was = -1;
	lock();
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (strcmp(name, variables[i].name) == 0) {
			was = *variables[i].value;
			*variables[i].value = value;
		}
	unlock();
	return was;
}

// bufslab_double_refuse makes the n-th object of a class from now nil; 0 takes that back.
void bufslab_double_refuse(long class, long n) {
	lock();
	refuse_in[class] = n;
	unlock();
}

// bufslab_double_fail makes the n-th command buffer from now fail when its work would
// be done, and after code 11 all others; 0 takes that back, as no Mac does.
void bufslab_double_fail(long n, long code) {
	lock();
	fail_in = n, fail_code = code, is_lost = false;
	unlock();
}

// bufslab_double_mistakes returns how many there were since it was last called, and the
// last of them in text.
long bufslab_double_mistakes(char *text, size_t size) {
	lock();
	long n = mistakes;
	if (size)
		snprintf(text, size, "%s", n ? last : "");
	mistakes = 0;
	unlock();
	return n;
}
