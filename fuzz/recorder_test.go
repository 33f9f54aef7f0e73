package fuzz_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// verdict runs a property as rapid.Check does and returns what it says
// against it, "" if nothing.
func verdict(t *testing.T, property func(*rapid.T)) string {
	t.Helper()
	r := &recorder{name: t.Name()}
	done := make(chan struct{})
	go func() { // FailNow ends its goroutine
		defer close(done)
		rapid.Check(r, property)
	}()
	<-done
	return r.text.String()
}

// quick makes rapid keep what it finds to itself, not spend time on making it
// short, and try the same programs each time, as many as it takes: most faults are
// found in the first ten.
func quick(t *testing.T) {
	t.Helper()
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "0s")
	set(t, "rapid.seed", "1")
	set(t, "rapid.checks", "2000")
}

// set sets a flag of rapid for the length of a test.
func set(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

// A recorder is a test that keeps its failure to itself.
type recorder struct {
	name   string
	mu     sync.Mutex
	failed bool
	text   strings.Builder
}

func (r *recorder) Helper()             {}
func (r *recorder) Name() string        { return r.name }
func (r *recorder) Log(...any)          {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) SkipNow()            { runtime.Goexit() }
func (r *recorder) Skip(...any)         { r.SkipNow() }
func (r *recorder) Skipf(string, ...any) {
	r.SkipNow()
}
func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any) { r.Error(args...); r.FailNow() }
func (r *recorder) FailNow()          { r.Fail(); runtime.Goexit() }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.FailNow()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.Fail()
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.text, format+"\n", args...)
}

func (r *recorder) Fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}
