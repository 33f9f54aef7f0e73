// Package check holds the phrases that tests repeat.
package check

import (
	"errors"
	"slices"
	"testing"
)

// Must ends the test at the first error.
func Must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Ok takes the results of a call that must not fail, and the test:
//
//	m := check.Ok(b.Host())(t)
func Ok[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Must(t, err)
		return v
	}
}

// Err drops the first of two results.
func Err[T any](_ T, err error) error { return err }

// Wraps fails the test unless err wraps all of want.
func Wraps(t testing.TB, err error, want ...error) {
	t.Helper()
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("error is %v, which does not wrap %v", err, w)
		}
	}
}

// Same ends the test at the first element that differs.
func Same[T comparable](t testing.TB, got, want []T, what string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d of %d is %v, not %v", what, i, len(want), got[i], want[i])
		}
	}
	t.Fatalf("%s: %d elements, not %d", what, len(got), len(want))
}

// Panics fails the test unless f panics.
func Panics(t testing.TB, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}
