package slab

import (
	"bytes"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A closing counts how often the device of a pool was closed.
type closing struct {
	device.Device
	times atomic.Int32
	err   error
}

func (c *closing) Close() error {
	c.times.Add(1)
	return errors.Join(c.Device.Close(), c.err)
}

// watchClose has a pool of OpenConfig close its device through a closing.
func watchClose(p *Pool) *closing {
	c := &closing{Device: p.pool.config.device}
	p.pool.config.device = c
	return c
}

func (c *closing) want(t *testing.T, n int32, when string) {
	t.Helper()
	if got := c.times.Load(); got != n {
		t.Errorf("%s: the device was closed %d times, not %d", when, got, n)
	}
}

// closeWithLeaks closes a pool that has n buffers out.
func closeWithLeaks(t *testing.T, p *Pool, n int64) {
	t.Helper()
	var leak *LeakError
	if err := p.Close(); !errors.As(err, &leak) || leak.Blocks != n {
		t.Errorf("Close with %d buffers out: %v", n, err)
	}
}

// closingDevices are those of the tests below.
var closingDevices = []string{"sim", "heap", "mmap"}

func onClosingDevices(t *testing.T, f func(t *testing.T, p *Pool, d *closing)) {
	for _, dev := range closingDevices {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) {
				p := openLine(t, "device="+dev+",strategy="+s)
				f(t, p, watchClose(p))
			})
		}
	}
}

// wantCopies has a device copy to the memory of a buffer and back.
func wantCopies(t *testing.T, d device.Device, b PooledBuffer) {
	t.Helper()
	from, to := bytes.Repeat([]byte{0xC5}, b.Len()), make([]byte, b.Len())
	if err := errors.Join(d.Copy(b.Block(), device.Host(from)), d.Copy(device.Host(to), b.Block())); err != nil || !bytes.Equal(from, to) {
		t.Errorf("a copy of %d bytes: %v", b.Len(), err)
	}
}

// Close leaves the device open while anything is out: buffers, parts, empty ones. The last Release
// closes it, once.
func TestADeviceIsOpenUntilNothingIsOut(t *testing.T) {
	onClosingDevices(t, func(t *testing.T, p *Pool, d *closing) {
		a, b, empty := mustGet(t, p, 100), mustGet(t, p, 100<<10), mustGet(t, p, 0)
		part, err := b.Slice(10, 2000)
		if err != nil {
			t.Fatal(err)
		}
		closeWithLeaks(t, p, 3)
		for _, x := range []PooledBuffer{b, empty, part, a} {
			d.want(t, 0, "something is out")
			if x.Len() > 0 {
				wantCopies(t, d, x)
			}
			mustRelease(t, x)
		}
		d.want(t, 1, "nothing is out")
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := a.Release(); err != ErrReleased {
			t.Error(err)
		}
		p.pool.freed() // as one of two last Releases that look at the same time
		d.want(t, 1, "later")
		checkNothing(t, p)
	})
}

// Work that was enqueued before the last Release is done before the device is closed.
func TestADeviceIsOpenUntilStreamsAreDone(t *testing.T) {
	p := openLine(t, "device=sim:1MiB:late=1")
	d := watchClose(p)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	b := used(t, mustGet(t, p, 1000), s)
	closeWithLeaks(t, p, 1)
	to := make([]byte, 1000)
	if err := errors.Join(s.Fill(b.Block(), 7), s.Copy(device.Host(to), b.Block())); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, b)
	d.want(t, 1, "released")
	if !bytes.Equal(to, bytes.Repeat([]byte{7}, 1000)) {
		t.Error("the copy was not done")
	}
}

// Buffers that are found forgotten after Close close the device, also those that are in quarantine
// then.
func TestForgottenBuffersCloseTheDevice(t *testing.T) {
	onClosingDevices(t, func(t *testing.T, p *Pool, d *closing) {
		forgetOne(t, p, 100<<10, nil)
		forgetOne(t, p, 50<<10, func(b PooledBuffer) { b.Bytes() })
		forgetOne(t, p, 20<<10, func(b PooledBuffer) { b.Share() })
		closeWithLeaks(t, p, 3)
		eventually(t, "the device is closed", func() bool { cycle(); return d.times.Load() > 0 })
		cycle()
		d.want(t, 1, "nothing is out")
	})
}

// A Pool that is forgotten closes its device when the last of its buffers is gone.
func TestAForgottenPoolClosesItsDevice(t *testing.T) {
	p := openLine(t, "device=sim")
	d := watchClose(p)
	b := mustGet(t, p, 1000)
	inner := p.pool
	p = nil
	eventually(t, "the pool is abandoned", func() bool { cycle(); return inner.ended.Load() })
	d.want(t, 0, "something is out")
	wantCopies(t, d, b)
	mustRelease(t, b)
	d.want(t, 1, "nothing is out")
}

// Close beside Releases closes the device once, after all of them.
func TestCloseBesideReleasesClosesTheDeviceOnce(t *testing.T) {
	for i := range 20 {
		p := openLine(t, "device="+closingDevices[i%3])
		d := watchClose(p)
		var wg sync.WaitGroup
		for range 4 {
			list := make([]PooledBuffer, 50)
			for i := range list {
				list[i] = mustGet(t, p, 100+i*1000)
			}
			wg.Go(func() {
				for _, b := range list {
					if err := b.Release(); err != nil {
						t.Error(err)
					}
					runtime.Gosched()
				}
			})
		}
		wg.Go(func() { _ = p.Close() }) // which may find some out
		wg.Wait()
		d.want(t, 1, "nothing is out")
	}
}

// Where nothing is out, Close itself closes the device and returns its error; else the log has it.
func TestCloseReturnsTheErrorOfTheDevice(t *testing.T) {
	failed := errors.New("the device fails")
	for _, s := range Strategies() {
		p := openLine(t, "strategy="+s)
		watchClose(p).err = failed
		mustRelease(t, mustGet(t, p, 5000))
		if err := p.Close(); !errors.Is(err, failed) {
			t.Error(err)
		}
		var text bytes.Buffer
		p, err := OpenConfig(Config{Strategy: s, Name: "late", Logger: slog.New(slog.NewTextHandler(&text, nil))})
		if err != nil {
			t.Fatal(err)
		}
		watchClose(p).err = failed
		b := mustGet(t, p, 5000)
		if closeWithLeaks(t, p, 1); strings.Contains(text.String(), failed.Error()) {
			t.Error(text.String())
		}
		if mustRelease(t, b); !strings.Contains(text.String(), failed.Error()) || !strings.Contains(text.String(), "pool=late") {
			t.Errorf("log: %s", text.String())
		}
	}
}
