package devicetest

import (
	"runtime"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// patience is how long a check waits for what has to come. Nothing depends on
// it but how soon a broken device is given up.
const patience = 30 * time.Second

func collected(t *testing.T, d device.Device, size int) (device.Block, device.Collected) {
	t.Helper()
	b := alloc(t, d, size)
	r, ok := b.Region.(device.Collected)
	if !ok {
		d.Free(b)
		t.Skip("the garbage collector does not own the memory of this device")
	}
	return b, r
}

// put writes in a frame of its own, so that no view is left on the stack.
//
//go:noinline
func put(b device.Block, contents []byte) { copy(device.Bytes(b), contents) }

// collect runs the collector until done says so.
func collect(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		cycle(t)
		select {
		case <-done:
			return
		default:
		}
	}
	t.Fatalf("%s did not happen in %v", what, patience)
}

// cycle runs the collector and waits until the finalizers that it found due have run.
func cycle(t *testing.T) {
	t.Helper()
	for range 2 {
		if !check.Cycle() {
			t.Fatal("no finalizer ran")
		}
	}
}

// forgotten: memory that nothing reaches comes back with its contents, each time.
func forgotten(t *testing.T, d device.Device) {
	for _, size := range []int{1, 24, 100, 4096, 100000} {
		b, r := collected(t, d, size)
		put(b, pattern(size, 1))
		lost := make(chan struct{}, 1)
		r.Watch(func() {
			if device.Bytes(b) != nil {
				t.Error("found memory can be had before Hold")
			}
			if !r.Hold() {
				t.Error("Hold is false within lost")
			}
			lost <- struct{}{}
		})
		for range 3 {
			r.Loosen()
			collect(t, lost, "lost")
			same(t, device.Bytes(b), pattern(size, 1), "memory that was found")
		}
		d.Free(b)
	}
}

// viewsKeep: one byte in sight is enough, and Hold comes in time then.
func viewsKeep(t *testing.T, d device.Device) {
	const size = 1000
	b, r := collected(t, d, size)
	defer d.Free(b)
	put(b, pattern(size, 1))
	lost := make(chan struct{}, 1)
	r.Watch(func() { lost <- struct{}{} })
	view := device.Bytes(b)[size-1:]
	r.Loosen()
	r.Loosen() // again: nothing changes
	cycle(t)
	if device.Bytes(b) == nil || len(lost) != 0 {
		t.Fatal("memory is lost while a view of it lives")
	}
	if !r.Hold() {
		t.Fatal("Hold is false while a view lives")
	}
	same(t, view, pattern(size, 1)[size-1:], "the view")
	runtime.KeepAlive(view)
	cycle(t)
	if len(lost) != 0 {
		t.Fatal("memory is lost that is held")
	}
	same(t, device.Bytes(b), pattern(size, 1), "held memory")
}

// freeUnwatches: what is freed on purpose is not lost, loosened or not.
func freeUnwatches(t *testing.T, d device.Device) {
	for _, loosen := range []bool{false, true} {
		b, r := collected(t, d, 1000)
		lost := make(chan struct{}, 1)
		r.Watch(func() { lost <- struct{}{} })
		if loosen {
			r.Loosen()
		}
		d.Free(b)
		cycle(t)
		if len(lost) != 0 {
			t.Errorf("freed memory was reported lost, loosened %v", loosen)
		}
		if device.Bytes(b) != nil || r.Hold() {
			t.Error("freed memory can be had")
		}
	}
}
