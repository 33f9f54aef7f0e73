package unified

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// Free takes the entries of a buffer and its views, and so does the collector for a buffer that was
// forgotten.
func TestRefsLeaveNothing(t *testing.T) {
	d := sim.New(1 << 20)
	before := buffers.Len()
	b := check.Ok(New[byte](d, 10))(t)
	b.Ref()
	for range 3 {
		check.Ok(b.View(2, 5))(t).Ref()
	}
	if n := buffers.Len() - before; n != 2 {
		t.Errorf("%d entries for a buffer and a view", n)
	}
	check.Must(t, b.Free())
	if n := buffers.Len() - before; n != 0 {
		t.Errorf("%d entries after Free", n)
	}
	check.Ok(New[byte](d, 10))(t).Ref()
	for buffers.Len() != before { // the test's own deadline ends this
		runtime.GC()
		runtime.Gosched()
	}
}

// A Get that found the entry just before the Free opens nothing.
func TestStaleBuffer(t *testing.T) {
	b := check.Ok(New[byte](sim.New(1<<20), 10))(t)
	r := b.Ref()
	x, _ := buffers.Find(r.name)
	check.Must(t, b.Free())
	r.name = buffers.Add(x)
	defer buffers.Remove(r.name)
	check.Wraps(t, check.Err(r.Get()), ErrReleased)
	runtime.KeepAlive(b)
}
