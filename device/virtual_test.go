package device

import (
	"math"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

func TestVirtualHasAnyCapacity(t *testing.T) {
	d := opened(t, "virtual")
	a := check.Ok(d.Alloc(math.MaxInt / 2))(t)
	b := check.Ok(d.Alloc(math.MaxInt / 2))(t)
	free, total, err := d.MemInfo()
	if want := total - 2*int64(math.MaxInt/2); err != nil || total != math.MaxInt64 || free != want {
		t.Errorf("%d of %d free, %v, want %d", free, total, err, want)
	}
	d.Free(a)
	d.Free(b)
}

func TestVirtualCapacityIsExact(t *testing.T) {
	d := opened(t, "virtual:10000")
	a := check.Ok(d.Alloc(5904))(t)
	g := check.Ok(d.(Reserver).Reserve(1 << 20))(t)
	check.Must(t, g.Commit(0, 4096))
	check.Wraps(t, g.Commit(0, 8192), ErrOutOfMemory)
	check.Wraps(t, check.Err(d.Alloc(1)), ErrOutOfMemory)
	d.Free(a)
	if err := g.Commit(0, 8192); err != nil {
		t.Errorf("commit of a page that is there and one that fits: %v", err)
	}
	if free, _, _ := d.MemInfo(); free != 10000-8192 {
		t.Errorf("%d bytes free with 8192 of 10000 committed", free)
	}
	check.Must(t, g.Close())
	if free, _, _ := d.MemInfo(); free != 10000 {
		t.Errorf("%d bytes free of 10000 after Close", free)
	}
	d.Free(check.Ok(d.Alloc(10000))(t))
}

func TestFixedCannotReserve(t *testing.T) {
	for _, name := range []string{"virtual:fixed", "virtual:fixed,1GiB", "mmap:fixed"} {
		check.Wraps(t, check.Err(opened(t, name).(Reserver).Reserve(1<<20)), ErrUnavailable)
	}
}

func TestReserveIsAsLongAsCanBe(t *testing.T) {
	for _, name := range []string{"virtual", "mmap"} {
		t.Run(name, func(t *testing.T) {
			g := check.Ok(opened(t, name).(Reserver).Reserve(math.MaxInt))(t)
			if n := g.Region().Size(); n < 1<<20 || n > addressable {
				t.Errorf("a range of %d bytes", n)
			}
			check.Must(t, g.Close())
		})
	}
}

func TestVirtualHasNoContents(t *testing.T) {
	d := opened(t, "virtual")
	b := check.Ok(d.Alloc(10))(t)
	s, _ := d.NewStream()
	check.Wraps(t, d.Copy(b, b), ErrUnavailable)
	check.Wraps(t, s.Fill(b, 1), ErrUnavailable)
	check.Wraps(t, s.Sync(), ErrUnavailable)
	check.Wraps(t, s.Wait(past{}), ErrUnavailable)
	if Bytes(b) != nil {
		t.Error("a virtual block has bytes")
	}
}

func BenchmarkVirtual(b *testing.B) {
	d := opened(b, "virtual")
	for b.Loop() {
		x, _ := d.Alloc(4096)
		d.Free(x)
	}
}
