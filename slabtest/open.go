package slabtest

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// Open opens the pool of a test by a line of configuration, as [slab.ParseConfig] reads it, with the
// device that the line names. If that fails it calls t.Fatal with the error, so call it on the
// goroutine of the test; the pool may be used by any.
//
// When the test and its subtests are over, the pool is closed. The test fails if a buffer is out or was
// forgotten, with a line for each place: see [NoLeaks], which does the same without closing. It also
// fails with each other error of [slab.Pool.Close], such as a finding of check or guard. A test that
// closes the pool itself gets the errors of that Close, and is looked at all the same.
//
// The pool keeps call sites, whatever else the line says: Open adds on_forget=report to it, and
// strict=true where the line has on_forget=free. The line forbids that by on_forget=return. Then, unless
// check or strict keeps the places, a failure has the number of buffers and their bytes alone.
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

// keepingSites returns c with call sites. What c says of forgotten buffers stays: it may be what the
// test is about.
func keepingSites(c slab.Config) slab.Config {
	switch c.OnForget {
	case "":
		c.OnForget = "report"
	case "free":
		c.Strict = true
	}
	return c
}

// end looks at a pool and closes it. It looks first: Close ends what finds forgotten buffers.
func end(t testing.TB, p *slab.Pool) {
	t.Helper()
	failedBefore := t.Failed()
	if text := leaksOf(p, "by the end of the test"); text != "" {
		if failedBefore {
			text += "\nThe test had failed before. If it ended early, that alone may be why."
		}
		t.Errorf("%s", text)
	}
	for _, err := range errorsOf(p.Close()) {
		t.Errorf("closing pool %s: %v", p.Name(), err)
	}
}

// errorsOf returns what Close has joined, without the leaks: those are told already.
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
