//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/cuda/internal/double"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/internal/blocktable"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// eachPool runs a test on a pool of every strategy over every kind of memory.
func eachPool(t *testing.T, test func(t *testing.T, d device.Device, c slab.Config)) {
	for _, name := range names {
		for _, strategy := range slab.Strategies() {
			t.Run(fmt.Sprintf("device=%s,strategy=%s", name, strategy), func(t *testing.T) {
				test(t, opened(t, name), slab.Config{Strategy: strategy})
			})
		}
	}
}

func openPool(t testing.TB, d device.Device, c slab.Config) *slab.Pool {
	t.Helper()
	p := check.Ok(slab.Open(d, c))(t)
	return p
}

// A line of configuration is all that a program needs.
func TestPoolByConfiguration(t *testing.T) {
	for _, name := range names {
		opened(t, name)
		c := check.Ok(slab.ParseConfig("device=" + name + ",strategy=bestfit,max_bytes=64MiB"))(t)
		p := check.Ok(slab.OpenConfig(c))(t)
		b := check.Ok(p.Get(1000))(t)
		check.Must(t, b.Release(), p.Close())
	}
}

func TestPoolsUnderTheModel(t *testing.T) {
	for _, name := range []string{"cuda:0", "cuda:0:pinned"} {
		for _, strategy := range slab.Strategies() {
			t.Run(fmt.Sprintf("device=%s,strategy=%s", name, strategy), func(t *testing.T) {
				watch(t)
				open := func(up slab.Allocator) (*slab.Pool, error) { return slab.Open(up, slab.Config{Strategy: strategy}) }
				fuzz.CheckPool(t, open, fuzz.OnDevice(func() (device.Device, error) { return device.Open(name) }))
			})
		}
	}
}

// A program fills the memory of the GPU with blocks, gives them back, and
// fills it with blocks of another size: the pool lets go of the ones to make
// room for the others, and says that there is none only when there is none.
func TestOutOfMemoryLadder(t *testing.T) {
	const room = 24 << 20
	if inProcess(t, fmt.Sprintf("CUDA_DOUBLE_BYTES=%d", room)) {
		return
	}
	eachPool(t, func(t *testing.T, d device.Device, c slab.Config) {
		p := openPool(t, d, c)
		for _, size := range []int{1 << 20, 3 << 20, 300 << 10, 5 << 20, 64 << 10} {
			if n, managed := fillPool(t, p, size); n == 0 || managed < room/2 {
				t.Errorf("%d blocks of %d bytes are all there is room for in %d: %d are managed", n, size, room, managed)
			}
		}
		check.Must(t, p.Close())
	})
}

// fillPool gets blocks until there is no room, and returns how many, and what
// the pool managed then.
func fillPool(t *testing.T, p *slab.Pool, size int) (n int, managed int64) {
	t.Helper()
	var live []slab.PooledBuffer
	for {
		b, err := p.Get(size)
		if err != nil {
			check.Wraps(t, err, device.ErrOutOfMemory)
			break
		}
		live = append(live, b)
	}
	s := p.Stats()
	if s.ActiveBlocks != int64(len(live)) || s.ActiveBytes != int64(len(live)*size) {
		t.Errorf("%+v with %d blocks of %d bytes out", s, len(live), size)
	}
	p.FreeHeld()
	if b, err := p.Get(size); err == nil {
		t.Errorf("a block of %d bytes fits after all", size)
		live = append(live, b)
	}
	for _, b := range live {
		check.Must(t, b.Release())
	}
	return len(live), s.ManagedBytes
}

// A closing is a source whose device is closed while Alloc is on its way to it.
type closing struct {
	source
	before func() error
}

func (c closing) alloc(size int) (cu.DevicePtr, error) {
	if err := c.before(); err != nil {
		return 0, err
	}
	return c.source.alloc(size)
}

// The driver is asked for no memory of a pool that Close has destroyed meanwhile.
func TestCloseBesideAlloc(t *testing.T) {
	d := opened(t, "cuda:0:async").(*memory)
	from := d.source
	d.source = closing{from, func() error {
		d.source = from
		return d.Close()
	}}
	check.Wraps(t, check.Err(d.Alloc(100)), device.ErrClosed)
}

// The driver fails at its k-th allocation, for every k: the pool finds room by itself or says that there is
// none, the next Get works, and nothing is lost.
func TestEveryFailureOfTheDriverIsSurvived(t *testing.T) {
	needsDouble(t)
	eachPool(t, func(t *testing.T, d device.Device, c slab.Config) {
		for k := 1; k <= 25; k++ {
			p := openPool(t, d, c)
			double.Fail(k, double.OutOfMemory)
			churn(t, p, rand.New(rand.NewPCG(uint64(k), 1)))
			double.Fail(0, 0)
			check.Must(t, p.Close())
		}
	})
}

// churn gets and releases buffers of all sizes and expects to be refused once at most.
func churn(t *testing.T, p *slab.Pool, r *rand.Rand) {
	t.Helper()
	var live []slab.PooledBuffer
	refused := 0
	for range 200 {
		if len(live) > 0 && r.IntN(2) == 0 {
			check.Must(t, live[0].Release())
			live = live[1:]
			continue
		}
		b, err := p.Get(1 + r.IntN(1<<r.IntN(19)))
		if errors.Is(err, device.ErrOutOfMemory) {
			refused++
			continue
		}
		check.Must(t, err)
		live = append(live, b)
	}
	if s := p.Stats(); refused > 1 || s.ActiveBlocks != int64(len(live)) ||
		s.ManagedBytes != s.ActiveBytes+s.RoundingBytes+s.HeldBytes+s.UnusableBytes {
		t.Errorf("refused %d times, %+v with %d buffers out", refused, s, len(live))
	}
	for _, b := range live {
		check.Must(t, b.Release())
	}
}

// Equal large blocks take what they need, and the rest of a budget can be had as one block, on
// ranges, too. go test -v prints a table.
func TestEqualBlocksTakeWhatTheyNeed(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			d := opened(t, name)
			size := 1 << 20
			if name == "cuda:0" {
				size = 2 << 20 // what a GPU commits at least
			}
			blocktable.Run(t, []int{size}, func(capacity int64) blocktable.Pool {
				return tableOf(t, d, slab.Config{Strategy: "slab", MaxBytes: capacity})
			})
		})
	}
}

// On ranges they take little at each count, from three on, and after a small block.
func TestEqualBlocksTakeLittleAtEachCount(t *testing.T) {
	d := opened(t, "cuda:0")
	for _, c := range []struct{ first, size int }{{0, 2 << 20}, {1000, 2 << 20}, {1000, 4 << 20}} {
		if got := blocktable.Worst(t, tableOf(t, d, slab.Config{}), c.first, c.size); got > 1.05 {
			t.Errorf("blocks of %d bytes after one of %d: %.3f of what is live", c.size, c.first, got)
		}
	}
}

// tableOf is a pool that closes when the test ends.
func tableOf(t *testing.T, d device.Device, c slab.Config) blocktable.Pool {
	p := openPool(t, d, c)
	t.Cleanup(func() { check.Must(t, p.Close()) })
	return blocktable.Pool{
		Get: func(size int) (func(), error) {
			b, err := p.Get(size)
			return func() { check.Must(t, b.Release()) }, err
		},
		Managed: func() int64 { return p.Stats().ManagedBytes },
	}
}

// A pool on a device that is lost gives the device's error, and closes.
func TestPoolOfALostDevice(t *testing.T) {
	if inProcess(t) {
		return
	}
	for _, strategy := range slab.Strategies() {
		d := check.Ok(device.Open("cuda:0"))(t)
		p := openPool(t, d, slab.Config{Strategy: strategy})
		b := check.Ok(p.Get(1000))(t)
		double.Lose(1, double.ECC)
		check.Wraps(t, check.Err(p.Get(100<<20)), device.ErrDeviceLost)
		check.Must(t, b.Release())
		if err := p.Close(); err != nil {
			check.Wraps(t, err, device.ErrDeviceLost)
		}
		double.Lose(0, 0)
	}
}
