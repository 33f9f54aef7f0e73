package metal

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

func TestUnifiedUnderTheModel(t *testing.T) {
	everyWay(t, some(names...), func(t *testing.T, name string) { fuzz.CheckUnified(t, devcheck.Opener(t, name)) })
}

func wantState[T any](t *testing.T, b *unified.Buffer[T], want unified.State) {
	t.Helper()
	if got := b.State(); got != want {
		t.Errorf("state %v, not %v", got, want)
	}
}

// moved is what the pool of a device has copied less than it would without shared memory.
func moved(p *unified.Pool) [2]int64 {
	u := p.MemoryUsage()
	return [2]int64{u.UncopiedCalls, u.UncopiedBytes}
}

// PyDotCompute's page of unified buffers, told one to one: .metal is Device on a Metal device. The states
// are those of any device; on shared memory no bytes move.
func TestSeedUnifiedBuffer(t *testing.T) {
	for _, name := range []string{"metal:0", "metal:0:private"} {
		t.Run(name, func(t *testing.T) {
			d := opened(t, name)
			free, total, err := d.MemInfo() // acc.get_memory_info()
			check.Must(t, err)
			p := unified.NewPool(d, unified.PoolConfig{})
			b := check.Ok(unified.Acquire[float32](p, 1000))(t)
			wantState(t, b, unified.Uninitialized)
			check.Ok(b.Host())(t)
			wantState(t, b, unified.HostOnly) // first access
			check.Ok(b.Device())(t)
			wantState(t, b, unified.Synchronized) // .metal access
			m := check.Ok(b.HostMut())(t)
			for i := range m {
				m[i] = float32(i)
			}
			wantState(t, b, unified.HostDirty) // host modified
			before := moved(p)
			block := check.Ok(b.Device())(t) // device_data = buf.metal: sync host -> device
			wantState(t, b, unified.Synchronized)
			after := moved(p)
			if calls, n := after[0]-before[0], after[1]-before[1]; d.Traits().Shared && (calls != 1 || n != 4000) || !d.Traits().Shared && calls != 0 {
				t.Errorf("%d copies of %d bytes were not made", calls, n)
			}
			if same := device.Bytes(block) != nil && &device.Bytes(block)[0] == (*byte)(bytesOf(m)); same != d.Traits().Shared {
				t.Errorf("both sides are the same bytes: %t", same)
			}
			kernel(t, d, block) // my_kernel(buf.device)
			check.Must(t, b.MarkDeviceDirty())
			wantState(t, b, unified.DeviceDirty)
			check.Must(t, b.SyncToHost())
			wantState(t, b, unified.Synchronized)
			result := check.Ok(b.ToSlice())(t) // result = buf.to_numpy()
			if !slices.Equal(result, make([]float32, 1000)) {
				t.Error("the host does not see what the device has written")
			}
			u := p.MemoryUsage() // Metal memory info includes cache and peak usage
			if u.Device.ActiveBytes != 4000 || u.Device.PeakManagedBytes < 4000 {
				t.Errorf("%+v", u.Device)
			}
			check.Must(t, b.Release())
			again := check.Ok(unified.Acquire[float32](p, 1000))(t) // next acquire: same buffer
			if s := p.Stats(); s.CacheHits != 1 {
				t.Errorf("%+v", s)
			}
			check.Must(t, again.Free())
			if u := p.MemoryUsage(); u.Device.ActiveBytes != 0 || u.Device.HeldBytes == 0 {
				t.Errorf("%+v", u.Device)
			}
			p.Clear()
			if after, again, err := d.MemInfo(); err != nil || again != total || p.MemoryUsage().Device.ManagedBytes != 0 {
				t.Errorf("%d of %d bytes are free, %d of %d before: %+v", after, again, free, total, p.MemoryUsage().Device)
			}
		})
	}
}

// kernel stands for one: it writes zeros, on the GPU, and is waited for.
func kernel(t *testing.T, d device.Device, b device.Block) {
	t.Helper()
	s := streamOn(t, d)
	check.Must(t, s.Fill(b, 0), s.Sync())
}

// Work of the GPU and accesses of the CPU that share bytes wait for each other.
func TestSharedSidesWaitForEachOther(t *testing.T) {
	lazy(t)
	d := opened(t, "metal:0")
	s := streamOn(t, d)
	b := check.Ok(unified.New[byte](d, 64))(t)
	defer b.Free()
	check.Must(t, b.Fill(1))
	x := check.Ok(b.DeviceMutOn(s))(t)
	check.Must(t, s.Fill(x, 2))
	m := check.Ok(b.Host())(t)
	check.Same(t, m, bytes.Repeat([]byte{2}, 64), "what the GPU has written")
	to := allocated(t, d, 64)
	x = check.Ok(b.DeviceOn(s))(t) // the GPU reads
	check.Must(t, s.Copy(to, x))
	m = check.Ok(b.HostMut())(t) // and the CPU writes when it has
	device.Fill(m, 3)
	check.Must(t, s.Sync())
	check.Same(t, device.Bytes(to), bytes.Repeat([]byte{2}, 64), "what the GPU has read")
}

// Two pools of the caller's own are two copies, if one is for the host.
func TestUnifiedOnTwoPools(t *testing.T) {
	d := opened(t, "metal:0")
	dev, host := check.Ok(slab.Open(d, slab.Config{}))(t), check.Ok(slab.OpenConfig(slab.Config{}))(t)
	for want, p := range map[int64]*unified.Pool{0: unified.NewPoolOn(host, dev, unified.PoolConfig{}), 1: unified.NewPoolOn(nil, dev, unified.PoolConfig{})} {
		b := check.Ok(unified.Acquire[int32](p, 10))(t)
		check.Must(t, b.Fill(5), b.SyncToDevice())
		if got := moved(p)[0]; got != want && d.Traits().Shared {
			t.Errorf("%d copies were not made, want %d", got, want)
		}
		check.Must(t, b.Free())
	}
	check.Must(t, dev.Close(), host.Close())
}

// A slice of shared memory that is used after its buffer was forgotten is nobody else's.
func TestForgottenSharedBufferIsNobodyElses(t *testing.T) {
	d := opened(t, "metal:0")
	p := check.Ok(slab.Open(d, slab.Config{Strategy: "exact"}))(t)
	u := unified.NewPoolOn(nil, p, unified.PoolConfig{})
	forget := func() []byte { return check.Ok(check.Ok(unified.Acquire[byte](u, 4096))(t).HostMut())(t) }
	m := forget()
	for i := range 20 {
		runtime.GC()
		device.Fill(m, byte(i))
		b := check.Ok(unified.Acquire[byte](u, 4096))(t)
		check.Must(t, b.Fill(99))
		check.Same(t, m, bytes.Repeat([]byte{byte(i)}, 4096), "a slice")
		check.Must(t, b.Free())
	}
	if err := p.Close(); err != nil && !errors.As(err, new(*slab.LeakError)) {
		t.Error(err)
	}
}

// A program that asks for nothing in particular gets the GPU where Metal is linked.
func TestDefaultFindsMetal(t *testing.T) {
	needsGPU(t)
	if got := unified.Default().Device().Name(); got != "metal:0" {
		t.Errorf("the default is %s", got)
	}
}
