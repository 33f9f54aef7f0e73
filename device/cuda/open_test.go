//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

func TestNameOpensTheSameAgain(t *testing.T) {
	for _, name := range []string{"cuda", "cuda:0", "cuda:0:managed", "cuda:0:async", "cuda:0:pinned", "cuda:0:async:pinned"} {
		if d := opened(t, name); d.Name() != name {
			t.Errorf("%s has the name %s", name, d.Name())
		}
	}
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	for _, name := range []string{"cuda:", "cuda:9", "cuda:-1", "cuda:x", "cuda:0:", "cuda:0:what", "cuda:0:managed:async", "cuda:0:pinned:pinned"} {
		d, err := device.Open(name)
		if err == nil {
			t.Errorf("%s opened %s", name, d.Name())
		}
		wants(t, err, device.ErrUnavailable)
	}
}

// A driver that does not start is no reason to end the program.
func TestDriverThatDoesNotStart(t *testing.T) {
	if inProcess(t, "CUDA_DOUBLE_INIT=100") {
		return
	}
	_, err := device.Open("cuda:0")
	wants(t, err, device.ErrUnavailable, cu.NoDevice)
}

func TestDriverWithoutPools(t *testing.T) {
	if inProcess(t, "CUDA_DOUBLE_POOLS=0") {
		return
	}
	_, err := device.Open("cuda:0:async")
	wants(t, err, device.ErrUnavailable)
}

func TestGPUThatDoesNotShareManagedMemory(t *testing.T) {
	if inProcess(t, "CUDA_DOUBLE_CONCURRENT=0") {
		return
	}
	_, err := device.Open("cuda:0:managed")
	wants(t, err, device.ErrUnavailable)
}

func TestGPUWithoutVirtualMemory(t *testing.T) {
	if inProcess(t, "CUDA_DOUBLE_RANGES=0") {
		return
	}
	_, err := opened(t, "cuda:0").(device.Reserver).Reserve(1 << 30)
	wants(t, err, device.ErrUnavailable)
}

func TestPinnedIsOneAndClosesWithItsParent(t *testing.T) {
	d := opened(t, "cuda:0")
	p := pinnedOf(t, d)
	if p != pinnedOf(t, d) || p.Name() != "cuda:0:pinned" {
		t.Errorf("pinned memory is %s, or another at each call", p.Name())
	}
	must(t, d.Close())
	_, err := p.Alloc(1)
	wants(t, err, device.ErrClosed)
	_, err = d.(device.Pinner).Pinned()
	wants(t, err, device.ErrClosed)
}

// What a GPU has is its own, but what the CPU reaches serves them all, and
// page-locked memory does so without waiting.
func TestMemoryOfAnotherGPU(t *testing.T) {
	a, b := opened(t, "cuda:0"), opened(t, "cuda:1")
	on, want := allocated(t, a, 10), pattern(10)
	wants(t, a.Copy(on, allocated(t, b, 10)), device.ErrUnavailable)
	host := allocated(t, pinnedOf(t, b), 10)
	copy(device.Bytes(host), want)
	must(t, a.Copy(on, host))
	same(t, contents(t, a, on), want)
	s := streamOn(t, a)
	must(t, s.Fill(host, 9))
	if needsLazy(t); device.Bytes(host)[0] == 9 {
		t.Error("work on page-locked memory of another GPU was waited for")
	}
	must(t, s.Sync())
}

// The kinds of memory of one GPU copy among each other.
func TestKindsCopyAmongEachOther(t *testing.T) {
	want := pattern(100_001)
	d := opened(t, "cuda:0")
	for _, from := range names {
		a := allocated(t, opened(t, from), len(want))
		must(t, d.Copy(a, device.Host(want)))
		for _, to := range names {
			b := allocated(t, opened(t, to), len(want))
			must(t, d.Copy(b, a))
			same(t, contents(t, d, b), want)
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
