//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/cuda/internal/double"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

func TestOutOfMemoryChangesNothing(t *testing.T) {
	needsDouble(t)
	for _, name := range names {
		d := opened(t, name)
		allocated(t, d, 1000)
		before, total, err := d.MemInfo()
		check.Must(t, err)
		b, err := d.Alloc(1 << 40)
		check.Wraps(t, err, device.ErrOutOfMemory, cu.OutOfMemory)
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
		check.Must(t, err)
		b := devcheck.Alloc(t, d, 1<<20)
		free, _, err := d.MemInfo()
		check.Must(t, err)
		if before-free != 1<<20 || before > total {
			t.Errorf("%s: %d bytes free of %d, then %d", name, before, total, free)
		}
		d.Free(b)
	}
}

// A lost device says so at every call but Free, which always works.
func TestLostDevice(t *testing.T) {
	needsDouble(t)
	if inProcess(t, "CUDA_DOUBLE_LAZY=0") {
		return
	}
	for _, n := range []int{double.ECC, double.IllegalAddress, double.LaunchFailed} {
		d := check.Ok(device.Open("cuda:0"))(t)
		b := devcheck.Alloc(t, d, 100)
		s := devcheck.Stream(t, d)
		e := devcheck.Record(t, s)
		double.Lose(1, n)
		check.Wraps(t, check.Err(d.Alloc(1)), device.ErrDeviceLost, code(n))
		check.Wraps(t, d.Copy(b, b), device.ErrDeviceLost)
		_, _, err := d.MemInfo()
		check.Wraps(t, err, device.ErrDeviceLost)
		check.Wraps(t, s.Fill(b, 1), device.ErrDeviceLost)
		check.Wraps(t, s.Sync(), device.ErrDeviceLost)
		if check.Wraps(t, e.Sync(), device.ErrDeviceLost); !e.Done() {
			t.Error("an event of a lost device is waited for")
		}
		d.Free(b)
		check.Must(t, s.Close(), d.Close())
		double.Lose(0, 0)
	}
}

// Work on memory that was freed too early is what loses a device.
func TestWorkOnFreedMemoryIsCaught(t *testing.T) {
	needsLazy(t)
	if inProcess(t) {
		return
	}
	d := check.Ok(device.Open("cuda:0"))(t)
	s := devcheck.Stream(t, d)
	b := devcheck.Alloc(t, d, 100)
	check.Must(t, s.Fill(b, 1))
	d.Free(b) // before Sync
	check.Wraps(t, s.Sync(), device.ErrDeviceLost, cu.IllegalAddress)
	if double.Mistakes() == 0 {
		t.Error("the double has not seen it")
	}
}

// No page stays committed when not all can be.
func TestCommitThatFailsChangesNothing(t *testing.T) {
	needsDouble(t)
	d := opened(t, "cuda:0")
	g := check.Ok(d.(device.Reserver).Reserve(64 << 20))(t)
	before, _, err := d.MemInfo()
	check.Must(t, err)
	double.Fail(3, double.OutOfMemory)
	check.Wraps(t, g.Commit(0, 5*g.Page()), device.ErrOutOfMemory)
	if after, _, err := d.MemInfo(); err != nil || after != before {
		t.Errorf("%d bytes are free, %d before: %v", after, before, err)
	}
	check.Must(t, g.Commit(0, 5*g.Page()), g.Close())
}

func TestRangeOfFewerAddresses(t *testing.T) {
	d := opened(t, "cuda:0")
	g := check.Ok(d.(device.Reserver).Reserve(1 << 50))(t)
	if n := g.Region().Size(); n > 1<<46 || n < g.Page() {
		t.Errorf("a range of %d bytes in pages of %d", n, g.Page())
	}
	check.Must(t, g.Close())
	check.Wraps(t, check.Err(d.(device.Reserver).Reserve(1)), device.ErrSize)
	check.Wraps(t, check.Err(pinnedOf(t, d).(device.Reserver).Reserve(1<<30)), device.ErrUnavailable)
}
