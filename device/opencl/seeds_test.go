package opencl_test

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/opencl"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// What pyopencl's own tests ask of its pools, told again on the devices that
// it runs on and on the simulated one, by the same code. Names are after
// theirs. Package slab tells those that need no device for every strategy too.

// eachPool runs f on a pool of every strategy on every kind of memory. Direct
// alone keeps nothing.
func eachPool(t *testing.T, f func(t *testing.T, d device.Device, p *slab.Pool, keeps bool)) {
	for _, name := range append([]string{"sim", "sim:64MiB:late=1"}, names[1:]...) {
		for _, strategy := range slab.Strategies() {
			t.Run(name+","+strategy, func(t *testing.T) {
				d, p := openPool(t, name, slab.Config{Strategy: strategy})
				f(t, d, p, strategy != "direct")
			})
		}
	}
}

func openPool(t *testing.T, name string, c slab.Config) (device.Device, *slab.Pool) {
	t.Helper()
	d, err := device.Open(name)
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the device is not there: %v", err)
	}
	check.Must(t, err)
	p := check.Ok(slab.Open(d, c))(t)
	t.Cleanup(func() {
		check.Must(t, p.Close(), d.Close())
	})
	return d, p
}

func get(t *testing.T, p *slab.Pool, n int) slab.PooledBuffer {
	t.Helper()
	b := check.Ok(p.Get(n))(t)
	return b
}

// test_mempool: ten blocks are live at a time, a hundred in all, of two sizes.
func TestSeedMempool(t *testing.T) {
	eachPool(t, func(t *testing.T, d device.Device, p *slab.Pool, keeps bool) {
		before, _, err := d.MemInfo()
		check.Must(t, err)
		var window []slab.PooledBuffer
		for _, e := range []int{6, 7} {
			calls := p.Stats().UpstreamAllocs
			for range 100 {
				window = append(window, get(t, p, 1<<e))
				if len(window) > 10 {
					check.Must(t, window[0].Release())
					window = window[1:]
				}
			}
			if n := p.Stats().UpstreamAllocs - calls; n > 11 && keeps {
				t.Errorf("%d calls upstream for 100 blocks of %d bytes", n, 1<<e)
			}
		}
		for _, b := range window {
			check.Must(t, b.Release())
		}
		p.StopHolding()
		s := p.Stats()
		if s.HeldBlocks != 0 || s.ActiveBlocks != 0 || s.ManagedBytes != 0 || s.UpstreamAllocs != s.UpstreamFrees {
			t.Errorf("%+v", s)
		}
		if after, _, _ := d.MemInfo(); after != before {
			t.Errorf("%d bytes free, %d before", after, before)
		}
	})
}

// test_mempool_32bit_issues: sizes about the powers of two from 1 to 16 GiB,
// of memory that is not written. More than the device has is refused, and changes nothing.
func TestSeedMempool32bitIssues(t *testing.T) {
	if ^uint(0)>>32 == 0 {
		t.Skip("no int of 32 bits says so much")
	}
	for _, name := range []string{"sim:32GiB", "opencl:0:deferred"} {
		for _, strategy := range []string{"exact", "bitlog", "sizeclass", "bestfit", "slab"} {
			t.Run(name+","+strategy, func(t *testing.T) {
				d, p := openPool(t, name, slab.Config{Strategy: strategy})
				_, most, err := d.MemInfo()
				check.Must(t, err)
				if cl, ok := d.(*opencl.Device); ok {
					most = cl.Info().MaxBytes
				}
				for i := 30; i < 35; i++ {
					for o := -5; o < 5; o++ {
						around32(t, p, int(uint64(1)<<i)+o, most)
					}
				}
				p.StopHolding()
				if s := p.Stats(); s.ManagedBytes != 0 {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// around32 gets n bytes where a class of n, which is less than an eighth larger, fits.
func around32(t *testing.T, p *slab.Pool, n int, most int64) {
	t.Helper()
	before := p.Stats().ActiveBytes
	b, err := p.Get(n)
	switch {
	case err == nil:
		if k := b.Block(); k.Len != n || k.Off < 0 || k.Region.Size()-k.Off < n {
			t.Errorf("%d bytes: %+v", n, k)
		}
		check.Must(t, b.Release())
	case !errors.Is(err, device.ErrOutOfMemory) || int64(n)+int64(n)/8 <= most:
		t.Errorf("%d bytes of %d: %v", n, most, err)
	}
	if p.Stats().ActiveBytes != before {
		t.Errorf("%d bytes are active, %d before", p.Stats().ActiveBytes, before)
	}
}

// test_allocator and test_zero_size_svm_allocations: nothing is a buffer, and
// can be released, whatever the memory.
func TestSeedZeroSizeAllocations(t *testing.T) {
	eachPool(t, func(t *testing.T, d device.Device, p *slab.Pool, _ bool) {
		none := devcheck.Alloc(t, d, 0)
		if none != (device.Block{}) {
			t.Errorf("no bytes of the device: %+v", none)
		}
		some := get(t, p, 15)
		for range 3 {
			none := get(t, p, 0)
			if none.Len() != 0 || none.Block() != (device.Block{}) {
				t.Errorf("no bytes: %+v", none.Block())
			}
			check.Must(t, none.Release())
		}
		if k := some.Block(); k.Len != 15 {
			t.Errorf("15 bytes: %+v", k)
		}
		check.Must(t, some.Release())
	})
}

// test_buffer_release: an explicit release works, the second one is an error.
func TestSeedBufferRelease(t *testing.T) {
	eachPool(t, func(t *testing.T, _ device.Device, p *slab.Pool, _ bool) {
		b := get(t, p, 1000)
		check.Must(t, b.Release())
		if err := b.Release(); !errors.Is(err, slab.ErrReleased) {
			t.Errorf("second Release: %v", err)
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 1 {
			t.Errorf("%+v", s)
		}
	})
}
