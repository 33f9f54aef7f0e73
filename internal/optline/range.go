package optline

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Range is the set of values that a key takes.
type Range[T any] struct {
	Want string       // the range in words, as in "want 1 to 16"
	Has  func(T) bool // nil takes every value

	Names func() []string // takes the place of Want where the values change while the program runs
}

func (r Range[T]) want() string {
	if r.Names != nil {
		return strings.Join(r.Names(), ", ")
	}
	return r.Want
}

func (r Range[T]) has(v T) bool { return r.Has == nil || r.Has(v) }

// TrueOrFalse is the range of all [Bools].
var TrueOrFalse = Range[bool]{Want: "true or false"}

// Between is the range of the integers from low to high.
func Between(low, high int) Range[int] {
	return Range[int]{Want: fmt.Sprintf("%d to %d", low, high), Has: func(n int) bool { return low <= n && n <= high }}
}

// PowerOfTwo is the range of the powers of two from low to high.
func PowerOfTwo(low, high int) Range[int] {
	return Range[int]{Want: fmt.Sprintf("a power of two, %d to %d", low, high),
		Has: func(n int) bool { return low <= n && n <= high && n&(n-1) == 0 }}
}

// Positive is the range of the numbers above zero.
func Positive[T int | int64 | time.Duration](want string) Range[T] {
	return Range[T]{Want: want, Has: func(n T) bool { return n > 0 }}
}

// NonEmpty is the range of the strings that are not empty.
func NonEmpty(want string) Range[string] {
	return Range[string]{Want: want, Has: func(s string) bool { return s != "" }}
}

// OneOf is the range of the given strings.
func OneOf(names ...string) Range[string] {
	return Range[string]{Want: strings.Join(names, ", "), Has: func(s string) bool { return slices.Contains(names, s) }}
}
