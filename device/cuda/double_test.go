//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/cuda/internal/double"
	"github.com/bufslab/bufslab/internal/check"
)

// What the double is there to notice, it has to notice.

// raw is memory of the driver's own, and a queue.
func raw(t *testing.T, size int) (*gpu, cu.DevicePtr, cu.Stream) {
	t.Helper()
	needsDouble(t)
	double.Mistakes()
	g := check.Ok(gpuOf(0))(t)
	var p cu.DevicePtr
	check.Must(t, g.do(func() (err error) { p, err = cu.MemAlloc(int64(size)); return err }))
	q := check.Ok(g.queue())(t)
	t.Cleanup(func() {
		check.Must(t, g.do(q.Synchronize))
		push(g, &g.queues, q)
		check.Must(t, g.do(func() error { return cu.MemFree(p) }))
		double.Mistakes()
	})
	return g, p, q
}

func wantMistake(t *testing.T, what string) {
	t.Helper()
	if double.Mistakes() == 0 {
		t.Errorf("%s is not noticed", what)
	}
}

func TestDoubleFaultsOnDeviceMemory(t *testing.T) {
	_, p, _ := raw(t, 100)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("the CPU reaches memory of the device")
		}
	}()
	host := hostBytes(p, 100)
	t.Log(*(*byte)(unsafe.Pointer(&host[0])))
}

func TestDoubleWantsAContext(t *testing.T) {
	needsDouble(t)
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		_ = cu.SetCurrentContext(cu.CUContext{})
		_, err := cu.MemAlloc(1)
		done <- err
	}()
	check.Wraps(t, <-done, cu.InvalidContext)
	wantMistake(t, "a call without a context")
}

func TestDoubleKnowsWhatIsAllocated(t *testing.T) {
	g, p, q := raw(t, 100)
	if g.do(func() error { return cu.MemFree(p + 1) }) == nil {
		t.Error("half a block was freed")
	}
	wantMistake(t, "a free of half a block")
	if g.do(func() error { return cu.MemsetD8Async(p, 0, 101, q) }) == nil {
		t.Error("a byte too many was filled")
	}
	wantMistake(t, "a fill of a byte too many")
	if g.do(func() error { return cu.MemFreeHost(nil) }) == nil {
		t.Error("nothing was freed")
	}
	wantMistake(t, "a free of nothing")
	check.Must(t, g.do(func() error { return cu.MemcpyAsync(p, p+1, 50, q) }))
	wantMistake(t, "a copy that overlaps")
}

// Without the wait that package cuda adds, pageable memory is read too late.
func TestDoubleReadsPageableMemoryLate(t *testing.T) {
	needsLazy(t)
	g, p, q := raw(t, 100)
	host := make([]byte, 100)
	check.Must(t, g.do(func() error { return cu.MemcpyHtoDAsync(p, unsafe.Pointer(&host[0]), 100, q) }))
	host[0] = 1 // after the copy was enqueued
	check.Must(t, g.do(q.Synchronize))
	d := opened(t, "cuda:0")
	check.Must(t, d.Copy(device.Host(host), device.Block{Region: &region{owner: d.(*memory), addr: p, size: 100}, Len: 100}))
	if host[0] != 1 {
		t.Error("the double reads pageable memory at once")
	}
	runtime.KeepAlive(host)
}
