package metal

import (
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/metal/internal/double"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

var names = []string{"metal:0", "metal:0:private", "metal:0:pinned"}

// some returns what test.sh tests in full, and of which go test takes the first, to be quick.
func some[T any](all ...T) []T {
	if os.Getenv("BUFSLAB_METAL") == "" {
		return all[:1]
	}
	return all
}

// strategies are those of pools, the default off the heap first.
var strategies = some(slices.Insert(slices.DeleteFunc(slab.Strategies(), func(s string) bool { return s == "slab" }), 0, "slab")...)

// opened returns a device that is closed, and watched, until the test ends.
func opened(t testing.TB, name string) *Device {
	t.Helper()
	needsGPU(t)
	watch(t)
	d := check.Ok(device.Open(name))(t).(*Device)
	t.Cleanup(func() { d.Close() })
	return d
}

func needsGPU(t testing.TB) {
	t.Helper()
	_, err := system()
	if err != nil && double.Present() {
		t.Fatalf("the double is there, and no device: %v", err)
	}
	if err != nil {
		t.Skipf("the device is not there: %v", err)
	}
}

// needsDouble skips what no Mac can be told to do, and watches the rest.
func needsDouble(t testing.TB) {
	t.Helper()
	if !double.Present() {
		t.Skip("only the double of Metal does what it is told to, and it is not there")
	}
	watch(t)
}

// watch checks at the end of the test, where Metal is the double, that no mistake was made.
func watch(t testing.TB) {
	t.Helper()
	if !double.Present() {
		return
	}
	double.Mistakes()
	t.Cleanup(func() {
		t.Helper()
		if n, last := double.Mistakes(); n != 0 {
			t.Errorf("%d mistakes, the last: %s", n, last)
		}
	})
}

// set changes a setting of the double for a test.
func set(t testing.TB, name string, value int) {
	t.Helper()
	needsDouble(t)
	was := double.Set(name, value)
	t.Cleanup(func() { double.Set(name, was) })
}

// lazy makes work as late as it can be: done when somebody waits for it, and not before.
func lazy(t testing.TB) {
	t.Helper()
	set(t, "LAZY", 2)
}

// late is lazy for programs that look whether work is done, until it is.
func late(t testing.TB) {
	t.Helper()
	set(t, "LAZY", 1)
}

// anew lists the GPUs again, so that what a test does to one is nothing to others.
func anew(t testing.TB) []*hardware {
	t.Helper()
	needsDouble(t)
	return check.Ok(list(check.Ok(load())(t)))(t)
}

// allocated returns a block that is freed when the test ends.
func allocated(t testing.TB, d device.Device, size int) device.Block {
	t.Helper()
	b := devcheck.Alloc(t, d, size)
	t.Cleanup(func() { d.Free(b) })
	return b
}

func streamOn(t testing.TB, d device.Device) *Stream {
	t.Helper()
	s := devcheck.Stream(t, d)
	t.Cleanup(func() { s.Close() })
	return s.(*Stream)
}

func pinnedOf(t testing.TB, d device.Device) device.Device {
	t.Helper()
	return check.Ok(d.(device.Pinner).Pinned())(t)
}

// bytesOf is where a slice begins.
func bytesOf[T any](m []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(m)) }
