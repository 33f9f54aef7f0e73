package iobuf

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/bufslab/bufslab/internal/pooltest"
	"github.com/bufslab/bufslab/slab"
)

var errLost = errors.New("lost")

var (
	openPool     = pooltest.Open
	openLine     = pooltest.OpenLine
	everyStack   = pooltest.EveryStack
	checkNoneOut = pooltest.NoneOut
	gets         = pooltest.Gets
	doesPanic    = pooltest.Panics
	checkedPool  = pooltest.Checked
	writeBeyond  = pooltest.WriteBeyond
	beginsIn     = pooltest.BeginsIn
)

func mustRelease(t testing.TB, b slab.PooledBuffer) {
	t.Helper()
	if err := b.Release(); err != nil {
		t.Error(err)
	}
}

// wantPanic runs f, which must panic with exactly the given text.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}()
	f()
}

// collected runs the collector until the answer is yes.
func collected(t testing.TB, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !yes(); runtime.Gosched() {
		if runtime.GC(); time.Now().After(deadline) {
			t.Fatalf("not in 30 s: %s", what)
		}
	}
}
