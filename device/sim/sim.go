package sim

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

var _ interface {
	device.Device
	device.Pinner
} = (*Device)(nil)

// A Device is a simulated accelerator. Its regions are exactly as large as
// asked, and their fresh contents are 0xDB.
//
// A Device is safe for concurrent use. One lock puts its calls in an order, so
// that the n-th call is well defined. It must not be copied.
type Device struct {
	base     *base.Device
	capacity int64
	pinned   pinned

	mu     sync.Mutex // guards all below and the memory of all regions
	next   uint64     // address of the next region, behind firstAddr
	faults [calls]fault
	stats  Stats
	clock
}

// Stats are the counters of a [Device] and its streams. Calls count whether or
// not they succeed; copies and bytes count only where bytes moved.
type Stats struct {
	AllocCalls, FreeCalls, CopyCalls, FillCalls, LaunchCalls int64

	ToDeviceCopies, ToHostCopies, WithinCopies int64 // by direction
	ToDeviceBytes, ToHostBytes, WithinBytes    int64
	FillBytes                                  int64

	UsedAfterFree int64 // pieces of work whose memory was freed before they were done

	ActiveBlocks, ActiveBytes int64 // not yet freed
	PeakBytes                 int64 // the largest ActiveBytes so far
	PinnedBlocks, PinnedBytes int64 // page-locked and not yet freed
}

// A pinned is the page-locked host memory of a [Device]: Go memory that the
// streams of the device know, at any size. It is no part of the device's
// capacity. Its regions are not [device.Collected]: a pool has to treat them as
// it would the real thing.
type pinned struct {
	*base.Device
	dev *Device
}

// New returns a simulated device of capacity bytes. Its name opens another
// one like it. A negative capacity is 0: a device that is always full.
func New(capacity int64) *Device {
	capacity = max(capacity, 0)
	return newDevice(fmt.Sprintf("sim:%d", capacity), capacity)
}

func newDevice(name string, capacity int64) *Device {
	d := &Device{base: base.Named("sim", name), capacity: capacity}
	d.pinned = pinned{Device: base.Named("sim", name+":pinned"), dev: d}
	return d
}

// defaultCapacity is that of a device whose name does not say.
const defaultCapacity = 1 << 30

func init() { device.Register("sim", open) }

// open takes a capacity, late and a seed, or both with a colon between.
func open(rest string) (device.Device, error) {
	if rest == "" {
		return newDevice("sim", defaultCapacity), nil
	}
	size, seed, late := strings.Cut(":"+rest, ":late=")
	d := newDevice("sim:"+rest, defaultCapacity)
	if late {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("sim: cannot use %q, only a capacity and late=SEED, an integer: %w", rest,
				device.ErrUnavailable)
		}
		d.beLate(n)
	}
	if size != "" {
		n, err := device.ParseSize(size[1:])
		if err != nil {
			return nil, fmt.Errorf("sim: cannot use %q, only a capacity and late=SEED: %w", rest, err)
		}
		d.capacity = n
	}
	return d, nil
}

// Name returns the name that [device.Open] takes.
func (d *Device) Name() string { return d.base.Name() }

// Traits returns CallBytes as it follows from the costs of a copy to the device.
func (d *Device) Traits() device.Traits {
	d.mu.Lock()
	defer d.mu.Unlock()
	return device.Traits{CallBytes: d.costs.callBytes()}
}

// Close does what is enqueued, and closes the page-locked memory too.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	_ = d.pinned.Device.Close()
	return d.base.Close()
}

// begin counts a call that fails only with the device itself.
func (d *Device) begin() error {
	if err := d.base.Usable(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	if err := d.strike(callOther); err != nil {
		return fmt.Errorf("sim: %s: %w", d.Name(), err)
	}
	return nil
}

// strike counts a call of a kind, and returns the fault that strikes it. Both countdowns advance on every
// call, so that one fault does not shift another. The caller holds mu.
func (d *Device) strike(c call) error {
	own := d.faults[c].strike()
	if err := d.faults[anyCall].strike(); err != nil {
		d.lost = fmt.Errorf("sim: %s: %w", d.Name(), err)
	}
	if d.lost != nil {
		return device.ErrDeviceLost
	}
	return own
}
