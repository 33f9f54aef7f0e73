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
	for range 3 { // what is not committed is given back once, and taken again
		check.Must(t, g.Decommit(4096, 4096), g.Decommit(4096, 4096))
		if free, _, _ := d.MemInfo(); free != 10000-4096 {
			t.Errorf("%d bytes free with 4096 of 10000 committed", free)
		}
		check.Must(t, g.Commit(4096, 4096), g.Commit(0, 8192))
		if free, _, _ := d.MemInfo(); free != 10000-8192 {
			t.Errorf("%d bytes free with 8192 of 10000 committed again", free)
		}
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
			} else if want := int64(1 << 46); name == "virtual" && int64(n) != min(want, 1<<30<<(16*(math.MaxInt>>62))) {
				t.Errorf("a range of %d bytes, want 64 TiB, or 1 GiB where an int has 32 bits", n)
			}
			check.Must(t, g.Close())
		})
	}
}

// A range is whole pages: of what is asked, those that are in it.
func TestReserveIsOfWholePages(t *testing.T) {
	for _, name := range []string{"virtual", "mmap"} {
		for _, pages := range []int{2, 3} {
			d := opened(t, name).(Reserver)
			g := check.Ok(d.Reserve(64 << 20))(t)
			page := g.Page()
			check.Must(t, g.Close())
			g = check.Ok(d.Reserve(pages*page + 1))(t)
			if n := g.Region().Size(); n != pages*page {
				t.Errorf("%s: a range of %d bytes, not %d pages of %d", name, n, pages, page)
			}
			check.Must(t, g.Close())
			check.Wraps(t, check.Err(d.Reserve(page-1)), ErrSize)
		}
	}
}

func TestVirtualHasNoContents(t *testing.T) {
	d := opened(t, "virtual")
	for _, n := range []int{1, 10} {
		b := check.Ok(d.Alloc(n))(t)
		s, _ := d.NewStream()
		check.Must(t, d.Copy(Block{}, Block{}), s.Fill(Block{}, 1))
		check.Wraps(t, d.Copy(b, b), ErrUnavailable)
		check.Wraps(t, s.Fill(b, 1), ErrUnavailable)
		check.Wraps(t, s.Sync(), ErrUnavailable)
		check.Wraps(t, s.Wait(past{}), ErrUnavailable)
		if Bytes(b) != nil {
			t.Error("a virtual block has bytes")
		}
	}
}

// A stream of the host accepts what the CPU reaches, and that of no memory anything.
func TestAccepts(t *testing.T) {
	host, none := opened(t, "heap"), opened(t, "virtual")
	h, n := check.Ok(host.NewStream())(t), check.Ok(none.NewStream())(t)
	memory, addresses := Host([]byte{1}), check.Ok(none.Alloc(1))(t)
	check.Must(t, Accepts(h, memory), Accepts(n, memory), Accepts(n, addresses))
	check.Must(t, Accepts(h, Block{}), Accepts(h, Block{Region: addresses.Region}))
	check.Wraps(t, Accepts(h, addresses), ErrUnavailable)
	check.Wraps(t, Accepts(nil, memory), ErrUnavailable)
	check.Must(t, h.Close())
	check.Wraps(t, Accepts(h, memory), ErrClosed)
}

func BenchmarkVirtual(b *testing.B) {
	d := opened(b, "virtual")
	for b.Loop() {
		x, _ := d.Alloc(4096)
		d.Free(x)
	}
}
