package growpool

import (
	"context"
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// openSlab opens the memory below, and sees to it that the test has
// released or forgotten nothing behind the pool's back.
func openSlab(t testing.TB, line string) *slab.Pool {
	t.Helper()
	c, err := slab.ParseConfig(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := slab.OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func open(t testing.TB, c Config) *Pool[string] {
	t.Helper()
	p := New[string](openSlab(t, "device=heap"), c)
	t.Cleanup(func() { p.Close() })
	return p
}

func mustGet[T any](t testing.TB, p *Pool[string], key string, shape ...int) View[T] {
	t.Helper()
	v, err := Get[T](p, key, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func acquire[T any](t testing.TB, p *Pool[string], key string, shape ...int) *Lease[T] {
	t.Helper()
	l, err := Acquire[T](t.Context(), p, key, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// An impatient context is done as soon as somebody waits for it.
type impatient struct {
	context.Context
	cancel context.CancelFunc
}

func newImpatient(t testing.TB) impatient {
	ctx, cancel := context.WithCancel(t.Context())
	return impatient{ctx, cancel}
}

func (i impatient) Done() <-chan struct{} {
	i.cancel()
	return i.Context.Done()
}

func release[T any](t testing.TB, l *Lease[T]) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

func wantStats(t testing.TB, p *Pool[string], key string, want KeyStats) {
	t.Helper()
	if got := p.Stats()[key]; got != want {
		t.Errorf("key %s: %+v, want %+v", key, got, want)
	}
}

func wantError(t testing.TB, err error, want ...error) {
	t.Helper()
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("%v does not wrap %v", err, w)
		}
	}
}

var errOutOfMemory = device.ErrOutOfMemory
