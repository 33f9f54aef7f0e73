package watch

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
)

// Here returns the calls that led to it.
func Here() []uintptr {
	var pc [32]uintptr
	return slices.Clone(pc[:runtime.Callers(2, pc[:])])
}

// Caller returns file:line of the first caller that is the program's: see IsHidden.
func Caller() string { return SiteOf(Here()) }

// SiteOf returns file:line of the first call in a stack that is the program's, or "" if there is no stack.
func SiteOf(stack []uintptr) string { return strings.Join(places(stack, 1), "") }

// PlaceOf names the first call in a stack that is the program's, as file:line, and the two around it: the first may be
// of a function that only passes buffers on. If all three are of another module, as of Arrow, the first that is not
// is named, too. It returns "" if there is no stack.
func PlaceOf(stack []uintptr) string { return placeOf(places(stack, math.MaxInt)) }

func placeOf(at []string) string {
	around := at[:min(len(at), 3)]
	if i := slices.IndexFunc(at, func(place string) bool { return !ofAnotherModule(place) }); i >= 3 {
		around = append(slices.Clone(around), "in the program at "+at[i])
	}
	if len(around) > 1 {
		around[1] = "called at " + around[1]
	}
	return strings.Join(around, ", ")
}

// ofAnotherModule reports whether a file is one that the program requires: it lies below the version of its module, or
// among the vendored ones.
func ofAnotherModule(file string) bool {
	return strings.Contains(file, "@v") || strings.Contains(file, "/vendor/")
}

// places returns file:line of the first calls in a stack that are the program's, some at most.
func places(stack []uintptr, most int) (at []string) {
	frames := runtime.CallersFrames(stack)
	for more := len(stack) > 0; more && len(at) < most; {
		var f runtime.Frame
		f, more = frames.Next()
		if own := !IsHidden(f) && !isRuntimes(f); own || len(at) == 0 && !more {
			at = append(at, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
	}
	return at
}

// isRuntimes reports whether a frame is one of those that goroutines and tests begin with.
func isRuntimes(f runtime.Frame) bool {
	of, _, _ := strings.Cut(f.Function, ".")
	return of == "runtime" || of == "testing" || of == "sync" || f.File == "_testmain.go" || strings.HasSuffix(f.Function, ".TestMain")
}

// OwnStack is a stack from the first call that is the program's on.
func OwnStack(stack []uintptr) []uintptr {
	for ; len(stack) > 1; stack = stack[1:] {
		frames := runtime.CallersFrames(stack[:1]) // more than one where calls are inlined
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); !IsHidden(f) {
				return stack
			}
		}
	}
	return stack
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
