package metal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/metal/internal/double"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/internal/blocktable"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// eachPool runs a test on a pool of every strategy over every kind of memory.
func eachPool(t *testing.T, test func(t *testing.T, d *Device, c slab.Config)) {
	for _, name := range names {
		for _, strategy := range strategies {
			t.Run(fmt.Sprintf("device=%s,strategy=%s", name, strategy), func(t *testing.T) {
				test(t, opened(t, name), slab.Config{Strategy: strategy})
			})
		}
	}
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
	for _, strategy := range strategies {
		everyWay(t, some("metal:0:private", "metal:0"), func(t *testing.T, name string) {
			if _, err := device.Open(name); err != nil {
				t.Skipf("the device is not there: %v", err)
			}
			open := func(up slab.Allocator) (*slab.Pool, error) {
				return slab.Open(up, slab.Config{Strategy: strategy})
			}
			fuzz.CheckPool(t, open, fuzz.OnDevice(func() (device.Device, error) { return device.Open(name) }))
		})
	}
}

// A program fills the memory with blocks, gives them back, and fills it with blocks of another
// size: the pool lets go of the ones to make room for the others.
func TestPoolsMakeRoom(t *testing.T) {
	needsDouble(t)
	eachPool(t, func(t *testing.T, d *Device, c slab.Config) {
		const room = 8 << 20
		used, total, err := d.MemInfo()
		check.Must(t, err)
		set(t, "BYTES", int(total-used)+room)
		found := anew(t) // which are told of the size
		small := newDevice(found[0], d.Name(), d.kind)
		p := check.Ok(slab.Open(small, c))(t)
		for _, size := range []int{1 << 20, 3 << 20, 300 << 10, 64 << 10} {
			var live []slab.PooledBuffer
			b, err := p.Get(size)
			for ; err == nil; b, err = p.Get(size) {
				live = append(live, b)
			}
			check.Wraps(t, err, device.ErrOutOfMemory)
			if managed := p.Stats().ManagedBytes; managed < room/2 || managed > room {
				t.Errorf("%d blocks of %d bytes are all there is room for in %d: %d are managed", len(live), size, room, managed)
			}
			for _, b := range live {
				check.Must(t, b.Release())
			}
		}
		check.Must(t, p.Close())
	})
}

// Metal refuses the k-th buffer, for every k: the pool finds room by itself or says that there is
// none, the next Get works, and nothing is lost.
func TestEveryRefusalIsSurvived(t *testing.T) {
	needsDouble(t)
	eachPool(t, func(t *testing.T, d *Device, c slab.Config) {
		for k := 1; k <= 15; k++ {
			p, r := check.Ok(slab.Open(d, c))(t), rand.New(rand.NewPCG(uint64(k), 1))
			double.Refuse(double.Buffer, k)
			refused, live := 0, []slab.PooledBuffer{}
			for range 150 {
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
			double.Refuse(double.Buffer, 0)
			if s := p.Stats(); refused > 1 || s.ActiveBlocks != int64(len(live)) ||
				s.ManagedBytes != s.ActiveBytes+s.RoundingBytes+s.HeldBytes+s.UnusableBytes {
				t.Errorf("refused %d times, %+v with %d buffers out", refused, s, len(live))
			}
			for _, b := range live {
				check.Must(t, b.Release())
			}
			check.Must(t, p.Close())
		}
	})
}

// Metal's buffers cannot grow: equal large ones take what they need, and the rest of a budget can be
// had as one. go test -v prints a table.
func TestEqualBlocksTakeWhatTheyNeed(t *testing.T) {
	for _, name := range some(names...) {
		d := opened(t, name)
		blocktable.Run(t, []int{1 << 20}, func(capacity int64) blocktable.Pool {
			p := check.Ok(slab.Open(d, slab.Config{Strategy: "slab", MaxBytes: capacity}))(t)
			t.Cleanup(func() { check.Must(t, p.Close()) })
			return blocktable.Pool{
				Managed: func() int64 { return p.Stats().ManagedBytes },
				Get: func(size int) (func(), error) {
					b, err := p.Get(size)
					return func() { check.Must(t, b.Release()) }, err
				},
			}
		})
	}
}

// passing is a program that gets a buffer at each step, lets one stream write to it and another, behind an
// event, copy it to memory of the step's own, and releases it at once. It returns how many bytes are wrong, because the memory
// was reused too soon.
func passing(t *testing.T, get func(p *slab.Pool, s device.Stream) (slab.PooledBuffer, error), used bool) (wrong int) {
	t.Helper()
	const steps, size = 200, 1 << 10
	late(t)
	d := opened(t, "metal:0")
	p := check.Ok(slab.Open(d, slab.Config{Strategy: "exact", MaxBytes: 512 << 10}))(t)
	host := allocated(t, pinnedOf(t, d), steps*size)
	streams := []device.Stream{streamOn(t, d), streamOn(t, d), streamOn(t, d)}
	for i := range steps {
		writer, reader := streams[i%3], streams[(i+1+i%2)%3]
		b := check.Ok(get(p, writer))(t)
		check.Must(t, writer.Fill(b.Block(), byte(i)))
		check.Must(t, reader.Wait(devcheck.Record(t, writer)), reader.Copy(devcheck.Part(host, i*size, size), b.Block()))
		if used {
			check.Must(t, b.UsedOn(writer), b.UsedOn(reader))
		}
		check.Must(t, b.Release())
	}
	for _, s := range streams {
		check.Must(t, s.Sync())
	}
	for i, v := range device.Bytes(host) {
		if v != byte(i/size) {
			wrong++
		}
	}
	check.Must(t, p.Close())
	return wrong
}

// Buffers are reused in the order of the streams that use them, whichever way they are got; without
// UsedOn the double shows it.
func TestPoolReusesInTheOrderOfStreams(t *testing.T) {
	plain := func(p *slab.Pool, _ device.Stream) (slab.PooledBuffer, error) { return p.Get(1 << 10) }
	on := func(p *slab.Pool, s device.Stream) (slab.PooledBuffer, error) { return p.GetOn(1<<10, s) }
	if wrong := passing(t, plain, true); wrong != 0 {
		t.Errorf("with Get %d bytes are those of another step", wrong)
	}
	if wrong := passing(t, on, true); wrong != 0 {
		t.Errorf("with GetOn %d bytes are those of another step", wrong)
	}
	if passing(t, plain, false) == 0 {
		t.Error("buffers that were reused too soon have the right contents")
	}
}
