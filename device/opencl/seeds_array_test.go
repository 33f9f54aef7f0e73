package opencl_test

import (
	"encoding/binary"
	"runtime/debug"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Arithmetic as pyopencl's tests do it: what counts is whose memory it is and
// on which queue, so the CPU does the sums.

// An array is numbers in a buffer of a pool, bound to a stream.
type array struct {
	pool *slab.Pool
	on   device.Stream
	b    slab.PooledBuffer
	n    int
}

func newArray(t *testing.T, p *slab.Pool, s device.Stream, n int) *array {
	t.Helper()
	b := check.Ok(p.GetOn(4*n, s))(t)
	return &array{p, s, b, n}
}

// arange is 0, 1, ... n-1.
func arange(t *testing.T, p *slab.Pool, s device.Stream, n int) *array {
	a := newArray(t, p, s, n)
	m := make([]byte, 4*n)
	for i := range n {
		binary.NativeEndian.PutUint32(m[4*i:], uint32(i))
	}
	check.Must(t, s.Copy(a.b.Block(), device.Host(m)))
	return a
}

// numbers are read in the order of the array's stream.
func (a *array) numbers(t *testing.T) []uint32 {
	t.Helper()
	m := make([]byte, 4*a.n)
	check.Must(t, a.on.Copy(device.Host(m), a.b.Block()), a.on.Sync())
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
	check.Must(t, a.on.Copy(sum.b.Block(), device.Host(m)))
	return sum
}

// bind makes the array that of another stream: what comes next there waits for
// what was before here.
func (a *array) bind(t *testing.T, s device.Stream) {
	t.Helper()
	e := check.Ok(a.on.Record())(t)
	check.Must(t, s.Wait(e), a.b.UsedOn(s))
	a.on = s
}

func (a *array) sum(t *testing.T) (n uint64) {
	for _, v := range a.numbers(t) {
		n += uint64(v)
	}
	return n
}

// test_mem_pool_with_arrays: what arithmetic makes is of the pool of its operands,
// and in the second round takes nothing from the device any more.
func TestSeedMemPoolWithArrays(t *testing.T) {
	const n = 2000
	// After a collection the pool gives back on a goroutine what streams are done with. What that
	// has in hand a Get beside it does not find, and takes other memory.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	eachPool(t, func(t *testing.T, d device.Device, p *slab.Pool, keeps bool) {
		s := devcheck.Stream(t, d)
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
				check.Must(t, x.b.Release())
			}
			check.Must(t, s.Sync())
		}
		if more := p.Stats().UpstreamAllocs - calls; more > 0 && keeps {
			t.Errorf("the second round called upstream %d times", more)
		}
		check.Must(t, s.Close())
	})
}

// test_arrays_with_svm_allocators: a block belongs to the queue that it was
// made for until it is bound to another; sums are the same through both.
func TestSeedArraysWithSVMAllocators(t *testing.T) {
	const n = 2000
	eachPool(t, func(t *testing.T, d device.Device, p *slab.Pool, _ bool) {
		one, two := devcheck.Stream(t, d), devcheck.Stream(t, d)
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
			check.Must(t, s.Fill(x.b.Block(), 0xFF), x.b.Release())
			y := arange(t, p, []device.Stream{two, one}[i/2%2], n)
			if got := y.sum(t); got != want {
				t.Fatalf("round %d: the sum is %d, want %d: work of another owner came between", i, got, want)
			}
			check.Must(t, y.b.Release())
		}
		for _, x := range []*array{a, b, c} {
			check.Must(t, x.b.Release())
		}
		check.Must(t, one.Close(), two.Close())
	})
}
