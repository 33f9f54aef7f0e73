//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"math"
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	for _, name := range []string{"cuda:", "cuda:9", "cuda:-1", "cuda:4294967296", "cuda:x", "cuda:0:", "cuda:0:what", "cuda:0:managed:async", "cuda:0:pinned:pinned"} {
		d, err := device.Open(name)
		if err == nil {
			t.Errorf("%s opened %s", name, d.Name())
		}
		check.Wraps(t, err, device.ErrUnavailable)
	}
}

// A closed device says so, whatever it is asked for: to be out of memory is a reason to try again.
func TestClosedWhateverTheSize(t *testing.T) {
	for _, name := range names {
		d := opened(t, name)
		check.Wraps(t, check.Err(d.Alloc(math.MaxInt)), device.ErrOutOfMemory)
		check.Must(t, d.Close())
		check.Wraps(t, check.Err(d.Alloc(math.MaxInt)), device.ErrClosed)
	}
}

// A driver that does not start is no reason to end the program.
func TestDriverThatDoesNotStart(t *testing.T) {
	if inProcess(t, "CUDA_DOUBLE_INIT=100") {
		return
	}
	check.Wraps(t, check.Err(device.Open("cuda:0")), device.ErrUnavailable, cu.NoDevice)
}

func TestDriverWithoutPools(t *testing.T) {
	if inProcess(t, "CUDA_DOUBLE_POOLS=0") {
		return
	}
	check.Wraps(t, check.Err(device.Open("cuda:0:async")), device.ErrUnavailable)
}

func TestGPUThatDoesNotShareManagedMemory(t *testing.T) {
	if inProcess(t, "CUDA_DOUBLE_CONCURRENT=0") {
		return
	}
	check.Wraps(t, check.Err(device.Open("cuda:0:managed")), device.ErrUnavailable)
}

func TestGPUWithoutVirtualMemory(t *testing.T) {
	if inProcess(t, "CUDA_DOUBLE_RANGES=0") {
		return
	}
	check.Wraps(t, check.Err(opened(t, "cuda:0").(device.Reserver).Reserve(1<<30)), device.ErrUnavailable)
}

// What a GPU has is its own, but what the CPU reaches serves them all, and
// page-locked memory does so without waiting.
func TestMemoryOfAnotherGPU(t *testing.T) {
	a, b := opened(t, "cuda:0"), opened(t, "cuda:1")
	on, want := allocated(t, a, 10), devcheck.Pattern(10, 0)
	check.Wraps(t, a.Copy(on, allocated(t, b, 10)), device.ErrUnavailable)
	host := allocated(t, pinnedOf(t, b), 10)
	copy(device.Bytes(host), want)
	check.Must(t, a.Copy(on, host))
	check.Same(t, devcheck.Read(t, a, on), want, "bytes")
	s := streamOn(t, a)
	check.Must(t, s.Fill(host, 9))
	if needsLazy(t); device.Bytes(host)[0] == 9 {
		t.Error("work on page-locked memory of another GPU was waited for")
	}
	check.Must(t, s.Sync())
}

// The kinds of memory of one GPU copy among each other.
func TestKindsCopyAmongEachOther(t *testing.T) {
	want := devcheck.Pattern(100_001, 0)
	d := opened(t, "cuda:0")
	for _, from := range names {
		a := allocated(t, opened(t, from), len(want))
		check.Must(t, d.Copy(a, device.Host(want)))
		for _, to := range names {
			b := allocated(t, opened(t, to), len(want))
			check.Must(t, d.Copy(b, a))
			check.Same(t, devcheck.Read(t, d, b), want, "bytes")
		}
	}
}

// Kernels and other libraries need addresses.
func TestRegionHasAnAddress(t *testing.T) {
	b := allocated(t, opened(t, "cuda:0"), 10)
	if a, ok := b.Region.(interface{ Addr() uintptr }); !ok || a.Addr() == 0 {
		t.Errorf("a %T has no address", b.Region)
	}
}
