//go:build cuda && cgo && linux && (amd64 || arm64)

package double

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

static long mistakes(void *f) { return ((long (*)(void))f)(); }
static void arm(void *f, long n, int code) { ((void (*)(long, int))f)(n, code); }
static void *lookup(const char *name) { return dlsym(RTLD_DEFAULT, name); }
*/
import "C"

import "unsafe"

// symbol is a function that the driver itself does not have: nil there.
func symbol(name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.lookup(s)
}

var (
	failAt   = symbol("bufslab_double_fail")
	loseAt   = symbol("bufslab_double_lose")
	mistakes = symbol("bufslab_double_mistakes")
	blocks   = symbol("bufslab_double_blocks")
)

// Present says whether the driver of this process is the double.
func Present() bool { return mistakes != nil }

// Codes of the driver.
const (
	OutOfMemory    = 2
	ECC            = 214
	IllegalAddress = 700
	LaunchFailed   = 719
)

// Fail makes the n-th allocation from now return a code. 1 is the next; 0 takes it back.
func Fail(n, code int) { C.arm(failAt, C.long(n), C.int(code)) }

// Lose makes the n-th call from now and all later ones return a code. 0 takes
// that back, as no driver does.
func Lose(n, code int) { C.arm(loseAt, C.long(n), C.int(code)) }

// Mistakes returns how many there were since it was last called. What they
// were is on stderr.
func Mistakes() int { return int(C.mistakes(mistakes)) }

// Blocks returns how many allocations there are.
func Blocks() int { return int(C.mistakes(blocks)) }
