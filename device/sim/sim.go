package sim

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

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
	next   uint64     // address of the next region
	faults faults
	stats  Stats

	now     time.Duration // see clock.go
	costs   Costs
	late    *rand.Rand          // nil: work is not late
	engines [engines][]interval // sorted
	queue   queue
	numbers uint64 // of the last piece of work or event
}

// New returns a simulated device of capacity bytes. Its name opens another
// one like it. A negative capacity is 0: a device that is always full.
func New(capacity int64) *Device {
	capacity = max(capacity, 0)
	return newDevice(fmt.Sprintf("sim:%d", capacity), capacity)
}

func newDevice(name string, capacity int64) *Device {
	d := &Device{base: base.Named("sim", name), capacity: capacity, next: firstAddr}
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
		d.Late(n)
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

// Alloc gives every region an address of its own that was never used before.
func (d *Device) Alloc(size int) (device.Block, error) {
	if err := d.base.CheckAlloc(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.countAlloc(d.Name(), size); err != nil {
		return device.Block{}, err
	}
	if free := d.free(); int64(size) > free {
		return device.Block{}, fmt.Errorf("sim: alloc of %d bytes on %s, which has %d of %d left: %w",
			size, d.Name(), free, d.capacity, device.ErrOutOfMemory)
	}
	d.stats.ActiveBlocks++
	d.stats.ActiveBytes += int64(size)
	d.stats.PeakBytes = max(d.stats.PeakBytes, d.stats.ActiveBytes)
	r := &Region{dev: d, addr: d.next, size: size}
	d.next += uint64(size)/addrAlign*addrAlign + 2*addrAlign // a gap: neighbours never touch
	return device.Block{Region: r, Len: size}, nil
}

// countAlloc counts a call of Alloc, on the device or its page-locked memory,
// and returns the fault that strikes it. The caller holds mu.
func (d *Device) countAlloc(name string, size int) error {
	d.tick()
	d.stats.AllocCalls++
	if err := d.faults.strike(callAlloc); err != nil {
		return fmt.Errorf("sim: alloc of %d bytes on %s, call %d: %w", size, name, d.stats.AllocCalls, err)
	}
	return nil
}

// free returns the bytes that are left. The caller holds mu.
func (d *Device) free() int64 { return d.capacity - d.stats.ActiveBytes }

// Free works on a lost and on a closed device too, so that a program can always
// give its memory back. [Device.Lose] does not count it.
func (d *Device) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	r, ok := b.Region.(*Region)
	if !ok || r.dev != d || b.Off != 0 || b.Len != r.size || r.gone {
		d.base.BadFree(b.Len, b.Off)
	}
	r.gone, r.pages = true, nil
	d.stats.FreeCalls++
	d.stats.ActiveBlocks--
	d.stats.ActiveBytes -= int64(r.size)
}

// MemInfo counts exactly what was asked for.
func (d *Device) MemInfo() (free, total int64, err error) {
	if err := d.strike(); err != nil {
		return 0, 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.free(), d.capacity, nil
}

// Close does what is enqueued, and closes the page-locked memory too.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	_ = d.pinned.Device.Close()
	return d.base.Close()
}

// strike counts a call that fails only with the device itself.
func (d *Device) strike() error {
	if err := d.base.Usable(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	if err := d.faults.strike(callOther); err != nil {
		return fmt.Errorf("sim: %s: %w", d.Name(), err)
	}
	return nil
}

// errLost is the error of work that finds the device lost.
func (d *Device) errLost() error { return fmt.Errorf("sim: %s: %w", d.Name(), device.ErrDeviceLost) }
