package slabtest

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/internal/inside"
	"github.com/bufslab/bufslab/slab"
)

// Open opens the pool of a test by a line of configuration, as [slab.ParseConfig] reads it, with the
// device that the line names. If that fails it calls t.Fatal with the error, so call Open on the
// goroutine of the test. Any goroutine may use the pool.
//
// When the test and its subtests are over, the pool is closed. The test fails if a buffer is active or
// was forgotten, with a line for each place: see [NoLeaks], which does the same without closing. It also
// fails with each other error of [slab.Pool.Close], such as a fault that check or guard found. A test
// that closes the pool itself gets the errors of that Close, and still fails for its leaks.
//
// The pool keeps call sites: Open adds on_forget=report to the line, or strict=true where the line has
// on_forget=free. With on_forget=return in the line Open adds nothing. Then a failure has only the number
// of buffers and their bytes, unless check or strict keeps the places.
func Open(t testing.TB, line string) *slab.Pool {
	t.Helper()
	c, err := slab.ParseConfig(line)
	if err != nil {
		t.Fatal(err)
		return nil
	}
	p, err := slab.OpenConfig(keepingSites(c))
	if err != nil {
		t.Fatal(err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		end(t, p)
	})
	return p
}

// keepingSites returns c with call sites. An OnForget of c stays: the test may be about it.
func keepingSites(c slab.Config) slab.Config {
	switch c.OnForget {
	case "":
		c.OnForget = "report"
	case "free":
		c.Strict = true
	}
	return c
}

// end looks for leaks and closes the pool. It looks first: after Close nothing finds forgotten buffers.
func end(t testing.TB, p *slab.Pool) {
	t.Helper()
	failedBefore := t.Failed()
	if text := leaksOf(p, "by the end of the test"); text != "" {
		if failedBefore {
			text += "\nThe test had failed before. If it ended early, that alone may be why."
		}
		t.Errorf("%s", text)
	}
	for _, err := range errorsOf(inside.Close(p)) {
		t.Errorf("closing pool %s: %v", p.Name(), err)
	}
}

// errorsOf returns the errors that Close has joined, without the leaks: they are reported already.
func errorsOf(err error) (list []error) {
	if err == nil {
		return nil
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		if leak := (*slab.LeakError)(nil); !errors.As(err, &leak) {
			list = append(list, err)
		}
	}
	return list
}
