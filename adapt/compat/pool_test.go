package compat

import (
	"net/http/httputil"
	"runtime"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/slab"
	"google.golang.org/grpc/mem"
)

var (
	_ memory.Allocator    = (*adapt.ArrowAllocator)(nil)
	_ mem.BufferPool      = (*adapt.GRPCPool)(nil)
	_ httputil.BufferPool = (*adapt.HTTPPool)(nil)
)

// lines are the pools that every library runs on.
var lines = []string{"device=heap", "device=mmap"}

// even fails unless as many buffers were put as were got.
func even(t testing.TB, p *slab.Pool) {
	t.Helper()
	s := p.Stats()
	if s.ActiveBlocks != 0 || s.ForeignPuts != 0 || s.DoubleReleases != 0 || s.Forgotten != 0 {
		t.Errorf("%+v", s)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// gets returns how many buffers a pool has handed out.
func gets(p *slab.Pool) int64 {
	s := p.Stats()
	return s.Hits + s.Misses
}

// eventually yields until a goroutine of others has done what ok asks for.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < 30*time.Second; runtime.Gosched() {
		if ok() {
			return
		}
	}
	t.Error("never: " + what)
}
