//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"runtime"
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

func TestRegisteredMemoryIsCopiedWithoutWaiting(t *testing.T) {
	d := opened(t, "cuda:0")
	m, want := make([]byte, 10_000), pattern(10_000)
	b, err := d.(Registrar).Register(m)
	must(t, err)
	if &device.Bytes(b)[0] != &m[0] || b.Len != len(m) || cap(device.Bytes(b)) != len(m) {
		t.Error("the block is not the memory that was registered")
	}
	s, on := streamOn(t, d), allocated(t, d, len(m))
	must(t, d.Copy(on, device.Host(want)))
	must(t, s.Copy(b, on))
	m = nil
	runtime.GC() // the block keeps the memory
	must(t, s.Sync())
	same(t, device.Bytes(b), want)
	d.Free(b)
	if device.Bytes(b) != nil {
		t.Error("memory of a freed block can be had")
	}
}

func TestRegisterRefuses(t *testing.T) {
	d := opened(t, "cuda:0").(Registrar)
	_, err := d.Register(nil)
	wants(t, err, device.ErrSize)
	m := make([]byte, 4096)
	b, err := d.Register(m)
	must(t, err)
	_, err = d.Register(m)
	wants(t, err, cu.HostMemoryAlreadyRegistered)
	d.(device.Device).Free(b)
}

// Memory that is registered and forgotten stays, as its pages stay locked.
func TestForgottenRegistrationStays(t *testing.T) {
	if inProcess(t) {
		return
	}
	d, err := device.Open("cuda:0")
	must(t, err)
	gone := make(chan struct{})
	func() {
		m := make([]byte, 1<<20)
		runtime.SetFinalizer(&m[0], func(*byte) { close(gone) })
		_, err := d.(Registrar).Register(m)
		must(t, err)
	}()
	for range 5 {
		runtime.GC()
	}
	select {
	case <-gone:
		t.Error("memory that is locked was collected")
	default:
	}
}
