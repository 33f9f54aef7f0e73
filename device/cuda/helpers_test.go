//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/cuda/internal/double"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

var names = []string{"cuda:0", "cuda:0:managed", "cuda:0:async", "cuda:0:pinned"}

// opened returns a device that is closed, and watched, until the test ends.
func opened(t testing.TB, name string) device.Device {
	t.Helper()
	watch(t)
	d, err := device.Open(name)
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the device is not there: %v", err)
	}
	check.Must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// watch checks at the end of the test, where the driver is the double, that
// no mistake was made and no memory was left.
func watch(t testing.TB) {
	t.Helper()
	watchMistakes(t)
	if !double.Present() {
		return
	}
	blocks := double.Blocks()
	t.Cleanup(func() {
		t.Helper()
		drain()
		if n := double.Blocks() - blocks; n > 0 {
			t.Errorf("%d allocations are left", n)
		}
	})
}

// watchMistakes is watch of a test that leaves memory.
func watchMistakes(t testing.TB) {
	t.Helper()
	if !double.Present() {
		return
	}
	double.Mistakes()
	t.Cleanup(func() {
		t.Helper()
		drain()
		if n := double.Mistakes(); n != 0 {
			t.Errorf("%d mistakes", n)
		}
	})
}

// drain waits for all work: frees of a pool are work, too.
func drain() {
	if g, err := gpuOf(0); err == nil {
		_ = g.do(cu.Synchronize)
	}
}

// needsDouble skips what no GPU can be told to do.
func needsDouble(t testing.TB) {
	t.Helper()
	if !double.Present() {
		t.Skip("only the double of the driver fails when it is told to")
	}
}

// needsLazy skips what can only be seen where work is late for certain.
func needsLazy(t testing.TB) {
	t.Helper()
	if needsDouble(t); os.Getenv("CUDA_DOUBLE_LAZY") != "1" {
		t.Skip("the double does its work at once; CUDA_DOUBLE_LAZY=1 makes it late")
	}
}

// allocated returns a block that is freed when the test ends.
func allocated(t testing.TB, d device.Device, size int) device.Block {
	t.Helper()
	b := devcheck.Alloc(t, d, size)
	t.Cleanup(func() { d.Free(b) })
	return b
}

func streamOn(t testing.TB, d device.Device) device.Stream {
	t.Helper()
	s := devcheck.Stream(t, d)
	t.Cleanup(func() { s.Close() })
	return s
}

func pinnedOf(t testing.TB, d device.Device) device.Device {
	t.Helper()
	return check.Ok(d.(device.Pinner).Pinned())(t)
}

// inProcess runs this test once more in a process of its own with more in the
// environment, where the double behaves otherwise. It reports false in there.
func inProcess(t *testing.T, env ...string) bool {
	t.Helper()
	needsDouble(t)
	if os.Getenv("BUFSLAB_CUDA_CHILD") != "" {
		return false
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	c.Env = append(append(os.Environ(), "BUFSLAB_CUDA_CHILD=1"), env...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("with %v: %v\n%s", env, err, out)
	}
	return true
}
