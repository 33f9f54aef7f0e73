package fuzz_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/model"
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
	model.Set(t, "rapid.nofailfile", "true")
	model.Set(t, "rapid.shrinktime", "0s")
	model.Set(t, "rapid.seed", "1")
	model.Set(t, "rapid.checks", "2000")
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
