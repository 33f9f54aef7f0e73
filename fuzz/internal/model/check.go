// Package model is what the models of package fuzz share: their settings, how
// long they run, what they write to memory, and what they expect of it.
package model

import (
	"flag"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A check that has run for mostTime ends early, so that tests on a busy machine
// come to an end. It runs leastPrograms at least, as most faults show in them.
const (
	mostTime      = time.Second
	leastPrograms = 10
)

// Check is [rapid.Check] within a bound of time. RAPID_CHECKS, -rapid.checks and
// BUFSLAB_STRESS lift it: then all programs run.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if isLong() {
		rapid.Check(t, property)
		return
	}
	end := time.Now().Add(mostTime)
	b := bound{over: func() bool { return time.Now().After(end) }, property: property}
	rapid.Check(t, b.run)
	if b.skipped > 0 {
		t.Logf("%d programs ran in %v, %d did not; RAPID_CHECKS runs all", b.ran, mostTime, b.skipped)
	}
}

func isLong() bool {
	checks := flag.Lookup("rapid.checks")
	return os.Getenv("RAPID_CHECKS") != "" || os.Getenv("BUFSLAB_STRESS") != "" || checks.Value.String() != checks.DefValue
}

// Set sets a flag of rapid for the length of a test.
func Set(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

// A bound runs no more programs of a property when it is over. Once a program has
// failed it never is: rapid runs it many times to make it short.
type bound struct {
	over         func() bool
	property     func(*rapid.T)
	failed       bool
	ran, skipped int
}

func (b *bound) run(t *rapid.T) {
	if !b.failed && b.ran >= leastPrograms && b.over() {
		b.skipped++
		return
	}
	b.ran++
	failed := true // a failure ends the property by a panic
	defer func() { b.failed = b.failed || failed }()
	b.property(t)
	failed = t.Failed()
}
