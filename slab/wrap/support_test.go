package wrap_test

import (
	"io"
	"testing"

	"go.uber.org/goleak"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/wrap"
)

// What the tests of this package share.

// No test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const page = upstreamtest.Page

type (
	source = upstreamtest.Source
	pages  = upstreamtest.Pages
)

// wrapper is what all wrappers are.
type wrapper interface {
	slab.Allocator
	slab.UsageReporter
	slab.Holder
	device.Reserver
}

// wrappers are those of this package.
var wrappers = map[string]func(slab.Allocator) wrapper{
	"statistics": func(u slab.Allocator) wrapper { return wrap.NewStatistics(u) },
	"record":     func(u slab.Allocator) wrapper { return wrap.NewRecord(u, io.Discard) },
	"check":      func(u slab.Allocator) wrapper { return wrap.NewCheck(u) },
}

// eachLayer runs f on each wrapper, and on a Limit.
func eachLayer(f func(name string, wrap func(slab.Allocator) slab.Allocator)) {
	f("limit", func(u slab.Allocator) slab.Allocator { return slab.NewLimit(u, 1<<20) })
	for name, wrap := range wrappers {
		f(name, func(u slab.Allocator) slab.Allocator { return wrap(u) })
	}
}

// on returns a strategy over an upstream.
func on(name string, up slab.Allocator, c slab.Config) slab.Allocator {
	s, err := slab.NewStrategy(name, up, c)
	if err != nil {
		panic(err)
	}
	return s
}

func mustOpen(t *testing.T, on slab.Allocator, c slab.Config) *slab.Pool {
	t.Helper()
	p, err := slab.Open(on, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustGet(t *testing.T, p *slab.Pool, n int) slab.PooledBuffer {
	t.Helper()
	b, err := p.Get(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustAlloc(t testing.TB, a slab.Allocator, size int) device.Block {
	t.Helper()
	b, err := a.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// panicOf returns what f panics with, or nil.
func panicOf(f func()) (got any) {
	defer func() { got = recover() }()
	f()
	return nil
}
