package slab

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// A panicky device is another one, whose n-th Free from when that is set panics.
type panicky struct {
	device.Device
	in     atomic.Int64
	closed bool
}

func (p *panicky) Traits() device.Traits { return device.TraitsOf(p.Device) }
func (p *panicky) Close() error          { p.closed = true; return p.Device.Close() }

func (p *panicky) Free(b device.Block) {
	if p.in.Add(-1) == 0 {
		panic(told)
	}
	p.Device.Free(b)
}

// A region of the Go heap whose Free panics is held, and watched as before.
func TestAHeapRegionWhoseFreePanicsIsHeld(t *testing.T) {
	for _, s := range Strategies() {
		d := &panicky{Device: openDevice(t, "heap")}
		p := mustOpen(t, d, uncached(Config{Strategy: s}))
		b := mustGet(t, p, 40_000)
		if s != "direct" {
			mustRelease(t, b)
		}
		d.in.Store(1)
		wantPanic(t, told, func() {
			if s == "direct" {
				mustRelease(t, b)
			} else {
				p.FreeHeld()
			}
		})
		forgetOne(t, p, 40_000, nil)
		if !collect(p, func(s Stats) bool { return s.Forgotten == 1 }) {
			t.Errorf("%s: %v", s, p.Stats())
		}
		check.Must(t, p.Close())
		if !collect(p, func(s Stats) bool { return s.ManagedBytes == 0 }) { // it is counted before it goes
			checkNothing(t, p)
		}
	}
}

// opensPanicky is what the scheme "panicky" opens.
var opensPanicky *panicky

func init() {
	device.Register("panicky", func(string) (device.Device, error) { return opensPanicky, nil })
}

// A Close in which the upstream panics still finishes. A later Close has nothing to do.
func TestACloseThatPanicsIsOver(t *testing.T) {
	d := &panicky{Device: sim.New(1 << 20)}
	opensPanicky = d
	file := filepath.Join(t.TempDir(), "trace.csv")
	p := check.Ok(OpenConfig(Config{Device: "panicky", Strategy: "exact", Record: file}))(t)
	mustRelease(t, mustGet(t, p, 1000))
	d.in.Store(1)
	wantPanic(t, told, func() { t.Error(p.Close()) })
	if check.Must(t, p.Close()); !d.closed || !p.Closed() {
		t.Error("the device is open")
	}
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != 4 {
		t.Errorf("%q, %v", text, err)
	}
}

// A Guard holds what it cannot use and the upstream does not take.
func TestAGuardHoldsWhatItCannotGiveBack(t *testing.T) {
	d := &panicky{Device: sim.New(1 << 20)}
	d.in.Store(1)
	p := mustOpen(t, d, Config{Strategy: "direct", Guard: 1})
	wantPanic(t, told, func() { mustGet(t, p, 1000) })
	p.StopHolding()
	if free, total, err := d.MemInfo(); free != total {
		t.Errorf("%d bytes are lost, %v", total-free, err)
	}
}
