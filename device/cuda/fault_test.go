//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/cuda/internal/double"
)

func TestOutOfMemoryChangesNothing(t *testing.T) {
	needsDouble(t)
	for _, name := range names {
		d := opened(t, name)
		allocated(t, d, 1000)
		before, total, err := d.MemInfo()
		must(t, err)
		b, err := d.Alloc(1 << 40)
		wants(t, err, device.ErrOutOfMemory, cu.OutOfMemory)
		if free, _, err := d.MemInfo(); b != (device.Block{}) || err != nil || name != "cuda:0:pinned" && free != before {
			t.Errorf("%s gave %+v and has %d bytes free of %d, %d before: %v", name, b, free, total, before, err)
		}
		allocated(t, d, 1000)
	}
}

func TestMemInfoFollowsAllocations(t *testing.T) {
	needsDouble(t)
	for _, name := range []string{"cuda:0", "cuda:0:async"} {
		d := opened(t, name)
		before, total, err := d.MemInfo()
		must(t, err)
		b, err := d.Alloc(1 << 20)
		must(t, err)
		free, _, err := d.MemInfo()
		must(t, err)
		if before-free != 1<<20 || before > total {
			t.Errorf("%s: %d bytes free of %d, then %d", name, before, total, free)
		}
		d.Free(b)
	}
}

// A device that does not fit gives its own error, before the driver is asked.
func TestSizesAreJudgedBeforeTheDriverIsAsked(t *testing.T) {
	d := opened(t, "cuda:0")
	_, err := d.Alloc(-1)
	wants(t, err, device.ErrSize)
	_, err = d.Alloc(most + 1)
	wants(t, err, device.ErrOutOfMemory)
}

// A lost device says so at every call but Free, which always works.
func TestLostDevice(t *testing.T) {
	needsDouble(t)
	if inProcess(t, "CUDA_DOUBLE_LAZY=0") {
		return
	}
	for _, n := range []int{double.ECC, double.IllegalAddress, double.LaunchFailed} {
		d, err := device.Open("cuda:0")
		must(t, err)
		b, err := d.Alloc(100)
		must(t, err)
		s, err := d.NewStream()
		must(t, err)
		e, err := s.Record()
		must(t, err)
		double.Lose(1, n)
		_, err = d.Alloc(1)
		wants(t, err, device.ErrDeviceLost, code(n))
		wants(t, d.Copy(b, b), device.ErrDeviceLost)
		_, _, err = d.MemInfo()
		wants(t, err, device.ErrDeviceLost)
		wants(t, s.Fill(b, 1), device.ErrDeviceLost)
		wants(t, s.Sync(), device.ErrDeviceLost)
		if wants(t, e.Sync(), device.ErrDeviceLost); !e.Done() {
			t.Error("an event of a lost device is waited for")
		}
		d.Free(b)
		must(t, s.Close())
		must(t, d.Close())
		double.Lose(0, 0)
	}
}

// Work on memory that was freed too early is what loses a device.
func TestWorkOnFreedMemoryIsCaught(t *testing.T) {
	needsLazy(t)
	if inProcess(t) {
		return
	}
	d, err := device.Open("cuda:0")
	must(t, err)
	s, err := d.NewStream()
	must(t, err)
	b, err := d.Alloc(100)
	must(t, err)
	must(t, s.Fill(b, 1))
	d.Free(b) // before Sync
	wants(t, s.Sync(), device.ErrDeviceLost, cu.IllegalAddress)
	if double.Mistakes() == 0 {
		t.Error("the double has not seen it")
	}
}

// No page stays committed when not all can be.
func TestCommitThatFailsChangesNothing(t *testing.T) {
	needsDouble(t)
	d := opened(t, "cuda:0")
	g, err := d.(device.Reserver).Reserve(64 << 20)
	must(t, err)
	before, _, err := d.MemInfo()
	must(t, err)
	double.Fail(3, double.OutOfMemory)
	wants(t, g.Commit(0, 5*g.Page()), device.ErrOutOfMemory)
	if after, _, err := d.MemInfo(); err != nil || after != before {
		t.Errorf("%d bytes are free, %d before: %v", after, before, err)
	}
	must(t, g.Commit(0, 5*g.Page()))
	must(t, g.Close())
}

func TestRangeOfFewerAddresses(t *testing.T) {
	d := opened(t, "cuda:0")
	g, err := d.(device.Reserver).Reserve(1 << 50)
	must(t, err)
	if n := g.Region().Size(); n > 1<<46 || n < g.Page() {
		t.Errorf("a range of %d bytes in pages of %d", n, g.Page())
	}
	must(t, g.Close())
	_, err = d.(device.Reserver).Reserve(1)
	wants(t, err, device.ErrSize)
	_, err = pinnedOf(t, d).(device.Reserver).Reserve(1 << 30)
	wants(t, err, device.ErrUnavailable)
}
