package watch

import (
	"fmt"
	"runtime"
	"strings"
)

// Caller returns file:line of the first caller that is the program's: see IsHidden.
func Caller() string {
	var pc [32]uintptr
	return SiteOf(pc[:runtime.Callers(2, pc[:])])
}

// SiteOf returns file:line of the first call in a stack that is the program's.
func SiteOf(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		if !IsHidden(f) || !more {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
}

// StackOf returns a line for each call of a stack that is the program's.
func StackOf(pcs []uintptr) string {
	var s strings.Builder
	frames := runtime.CallersFrames(pcs)
	for more := len(pcs) > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); !IsHidden(f) {
			fmt.Fprintf(&s, "\t%s %s:%d\n", f.Function, f.File, f.Line)
		}
	}
	return s.String()
}

// IsHidden reports whether a frame is not where a program got its buffer: one of package slab or of
// a package of ours that hands its buffers on, tests aside.
func IsHidden(f runtime.Frame) bool {
	return isOurs(f.Function) && !strings.HasSuffix(f.File, "_test.go")
}

// ours are the packages whose calls of Get tell a user nothing.
var ours = []string{"slab.", "slab/", "adapt.", "iobuf.", "arena.", "growpool.", "unified."}

func isOurs(function string) bool {
	_, rest, found := strings.Cut(function, "bufslab/bufslab/")
	if !found {
		return false
	}
	for _, p := range ours {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}
