//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"runtime"
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

func TestRegisteredMemoryIsCopiedWithoutWaiting(t *testing.T) {
	d := opened(t, "cuda:0")
	m, want := make([]byte, 10_000), devcheck.Pattern(10_000, 0)
	b := check.Ok(d.(Registrar).Register(m))(t)
	if &device.Bytes(b)[0] != &m[0] || b.Len != len(m) || cap(device.Bytes(b)) != len(m) {
		t.Error("the block is not the memory that was registered")
	}
	s, on := streamOn(t, d), allocated(t, d, len(m))
	check.Must(t, d.Copy(on, device.Host(want)), s.Copy(b, on))
	m = nil
	runtime.GC() // the block keeps the memory
	check.Must(t, s.Sync())
	check.Same(t, device.Bytes(b), want, "bytes")
	d.Free(b)
	if device.Bytes(b) != nil {
		t.Error("memory of a freed block can be had")
	}
}

// Each name opens a device that locks memory, and Close is the end of it.
func TestAllDevicesAreRegistrars(t *testing.T) {
	for _, name := range names {
		d := opened(t, name)
		r, is := d.(Registrar)
		if !is {
			t.Errorf("%s is a %T, no Registrar", name, d)
			continue
		}
		d.Free(check.Ok(r.Register(make([]byte, 4096)))(t))
		check.Must(t, d.Close())
		for _, err := range []error{check.Err(r.Register(make([]byte, 1))), check.Err(d.NewStream()), d.Close()} {
			check.Wraps(t, err, device.ErrClosed)
		}
	}
}

func TestRegisterRefuses(t *testing.T) {
	d := opened(t, "cuda:0").(Registrar)
	check.Wraps(t, check.Err(d.Register(nil)), device.ErrSize)
	m := make([]byte, 4096)
	b := check.Ok(d.Register(m))(t)
	check.Wraps(t, check.Err(d.Register(m)), cu.HostMemoryAlreadyRegistered)
	d.(device.Device).Free(b)
}

// Memory that is registered and forgotten stays, as its pages stay locked.
func TestForgottenRegistrationStays(t *testing.T) {
	if inProcess(t) {
		return
	}
	d := check.Ok(device.Open("cuda:0"))(t)
	gone := make(chan struct{})
	func() {
		m := make([]byte, 1<<20)
		runtime.SetFinalizer(&m[0], func(*byte) { close(gone) })
		check.Ok(d.(Registrar).Register(m))(t)
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
