package opencl_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/opencl"
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
	must(t, err)
	p, err := slab.Open(d, c)
	must(t, err)
	t.Cleanup(func() {
		must(t, p.Close())
		must(t, d.Close())
	})
	return d, p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, p *slab.Pool, n int) slab.PooledBuffer {
	t.Helper()
	b, err := p.Get(n)
	must(t, err)
	return b
}

// test_mempool: ten blocks are live at a time, a hundred in all, of two sizes.
func TestSeedMempool(t *testing.T) {
	eachPool(t, func(t *testing.T, d device.Device, p *slab.Pool, keeps bool) {
		before, _, err := d.MemInfo()
		must(t, err)
		var window []slab.PooledBuffer
		for _, e := range []int{6, 7} {
			calls := p.Stats().UpstreamAllocs
			for range 100 {
				window = append(window, get(t, p, 1<<e))
				if len(window) > 10 {
					must(t, window[0].Release())
					window = window[1:]
				}
			}
			if n := p.Stats().UpstreamAllocs - calls; n > 11 && keeps {
				t.Errorf("%d calls upstream for 100 blocks of %d bytes", n, 1<<e)
			}
		}
		for _, b := range window {
			must(t, b.Release())
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
// of memory that nobody writes. What is beyond the device is no room, and changes nothing.
func TestSeedMempool32bitIssues(t *testing.T) {
	if ^uint(0)>>32 == 0 {
		t.Skip("no int of 32 bits says so much")
	}
	for _, name := range []string{"sim:32GiB", "opencl:0:deferred"} {
		for _, strategy := range []string{"exact", "bitlog", "sizeclass", "bestfit", "slab"} {
			t.Run(name+","+strategy, func(t *testing.T) {
				d, p := openPool(t, name, slab.Config{Strategy: strategy})
				_, most, err := d.MemInfo()
				must(t, err)
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
		must(t, b.Release())
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
		none, err := d.Alloc(0)
		must(t, err)
		if none != (device.Block{}) {
			t.Errorf("no bytes of the device: %+v", none)
		}
		some := get(t, p, 15)
		for range 3 {
			none := get(t, p, 0)
			if none.Len() != 0 || none.Block() != (device.Block{}) {
				t.Errorf("no bytes: %+v", none.Block())
			}
			must(t, none.Release())
		}
		if k := some.Block(); k.Len != 15 {
			t.Errorf("15 bytes: %+v", k)
		}
		must(t, some.Release())
	})
}

// test_buffer_release: an explicit release works, the second one is an error.
func TestSeedBufferRelease(t *testing.T) {
	eachPool(t, func(t *testing.T, _ device.Device, p *slab.Pool, _ bool) {
		b := get(t, p, 1000)
		must(t, b.Release())
		if err := b.Release(); !errors.Is(err, slab.ErrReleased) {
			t.Errorf("second Release: %v", err)
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// An array is numbers in a buffer of a pool, bound to a stream.
type array struct {
	pool *slab.Pool
	on   device.Stream
	b    slab.PooledBuffer
	n    int
}

func newArray(t *testing.T, p *slab.Pool, s device.Stream, n int) *array {
	t.Helper()
	b, err := p.GetOn(4*n, s)
	must(t, err)
	return &array{p, s, b, n}
}

// arange is 0, 1, ... n-1.
func arange(t *testing.T, p *slab.Pool, s device.Stream, n int) *array {
	a := newArray(t, p, s, n)
	m := make([]byte, 4*n)
	for i := range n {
		binary.NativeEndian.PutUint32(m[4*i:], uint32(i))
	}
	must(t, s.Copy(a.b.Block(), device.Host(m)))
	return a
}

// numbers are read in the order of the array's stream.
func (a *array) numbers(t *testing.T) []uint32 {
	t.Helper()
	m := make([]byte, 4*a.n)
	must(t, a.on.Copy(device.Host(m), a.b.Block()))
	must(t, a.on.Sync())
	v := make([]uint32, a.n)
	for i := range v {
		v[i] = binary.NativeEndian.Uint32(m[4*i:])
	}
	return v
}

// plus is a new array of the same pool, on the same stream.
func (a *array) plus(t *testing.T, o *array) *array {
	t.Helper()
	sum, x, y := newArray(t, a.pool, a.on, a.n), a.numbers(t), o.numbers(t)
	m := make([]byte, 4*a.n)
	for i := range x {
		binary.NativeEndian.PutUint32(m[4*i:], x[i]+y[i])
	}
	must(t, a.on.Copy(sum.b.Block(), device.Host(m)))
	return sum
}

// bind makes the array that of another stream: what comes next there waits for
// what was before here.
func (a *array) bind(t *testing.T, s device.Stream) {
	t.Helper()
	e, err := a.on.Record()
	must(t, err)
	must(t, s.Wait(e))
	must(t, a.b.UsedOn(s))
	a.on = s
}

func (a *array) sum(t *testing.T) (n uint64) {
	for _, v := range a.numbers(t) {
		n += uint64(v)
	}
	return n
}

func stream(t *testing.T, d device.Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	must(t, err)
	return s
}

// test_mem_pool_with_arrays: what arithmetic makes is of the pool of its operands,
// and in the second round takes nothing from the device any more.
func TestSeedMemPoolWithArrays(t *testing.T) {
	const n = 2000
	eachPool(t, func(t *testing.T, d device.Device, p *slab.Pool, keeps bool) {
		s := stream(t, d)
		var calls int64
		for round := range 2 {
			if round == 1 {
				calls = p.Stats().UpstreamAllocs
			}
			a := arange(t, p, s, n)
			b := a.plus(t, a)
			c := b.plus(t, a)
			if b.pool != p || c.pool != p || c.sum(t) != 3*n*(n-1)/2 {
				t.Errorf("the sum is %d", c.sum(t))
			}
			for _, x := range []*array{a, b, c} {
				must(t, x.b.Release())
			}
			must(t, s.Sync())
		}
		if more := p.Stats().UpstreamAllocs - calls; more > 0 && keeps {
			t.Errorf("the second round called upstream %d times", more)
		}
		must(t, s.Close())
	})
}

// test_arrays_with_svm_allocators: a block belongs to the queue that it was
// made for until it is bound to another; sums are the same through both.
func TestSeedArraysWithSVMAllocators(t *testing.T) {
	const n = 2000
	eachPool(t, func(t *testing.T, d device.Device, p *slab.Pool, _ bool) {
		one, two := stream(t, d), stream(t, d)
		a, b := arange(t, p, one, n), arange(t, p, two, n)
		want := uint64(n * (n - 1) / 2)
		if x, y := a.sum(t), b.sum(t); x != want || y != want {
			t.Errorf("%d and %d, want %d", x, y, want)
		}
		a.bind(t, two)
		c := a.plus(t, b)
		if c.on != two || c.sum(t) != 2*want {
			t.Errorf("%d, want %d", c.sum(t), 2*want)
		}
		// Released with work under way, reused at once on either stream: the
		// next owner's work comes after.
		for i := range 20 {
			s := []device.Stream{one, two}[i%2]
			x := arange(t, p, s, n)
			must(t, s.Fill(x.b.Block(), 0xFF))
			must(t, x.b.Release())
			y := arange(t, p, []device.Stream{two, one}[i/2%2], n)
			if got := y.sum(t); got != want {
				t.Fatalf("round %d: the sum is %d, want %d: somebody else's work came between", i, got, want)
			}
			must(t, y.b.Release())
		}
		for _, x := range []*array{a, b, c} {
			must(t, x.b.Release())
		}
		must(t, one.Close())
		must(t, two.Close())
	})
}
