package metal

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

func init() { device.Register("metal", open) }

// A Device is what [device.Open] returns for the names of this package. It is safe for
// concurrent use and must not be copied.
type Device struct {
	base   *base.Device
	hw     *hardware
	kind   *kind
	pinned *Device // nil where this is the pinned one
	owner          // in the pinned one
}

// owner is a name that is not exported.
type owner = base.Owner

func open(rest string) (device.Device, error) {
	found, err := system()
	if err != nil {
		return nil, err
	}
	d, err := openOn(found, rest)
	if err != nil {
		return nil, err // not a nil *Device that is no nil device.Device
	}
	return d, nil
}

// openOn opens NUMBER, NUMBER:private or nothing, which is the first GPU.
func openOn(found []*hardware, rest string) (*Device, error) {
	name := strings.TrimSuffix("metal:"+rest, ":")
	number, kindName, colon := strings.Cut(rest, ":")
	if rest == "" {
		number = "0"
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || int(n) >= len(found) {
		return nil, fmt.Errorf("metal: no GPU %q, only 0 to %d: %w", number, len(found)-1, device.ErrUnavailable)
	}
	if colon && kindName == "" {
		return nil, fmt.Errorf("metal: nothing after the colon of %q: %w", name, device.ErrUnavailable)
	}
	k, err := found[n].kindOf(kindName)
	if err != nil {
		return nil, err
	}
	return newDevice(found[n], name, k), nil
}

func newDevice(h *hardware, name string, k *kind) *Device {
	return &Device{
		base: base.Named("metal", name), hw: h, kind: k,
		pinned: &Device{base: base.Named("metal", name+":pinned"), hw: h, kind: pinned},
	}
}

// Name returns the name that Open takes for this device.
func (d *Device) Name() string { return d.base.Name() }

// Info describes the GPU.
func (d *Device) Info() Info { return d.hw.Info }

// Handle returns the id<MTLDevice>, for another binding. It is valid as long as the program runs.
func (d *Device) Handle() uintptr { return uintptr(d.hw.gpu) }

// Traits says that a region takes whole pages, that memory is found when it is first used,
// where arguments of kernels may begin, and whether CPU and GPU reach the same bytes.
func (d *Device) Traits() device.Traits {
	t := device.Traits{Grain: os.Getpagesize(), Align: 16, Deferred: true, Shared: d.kind == shared}
	if !d.hw.Unified {
		t.Align = 256 // of constants, on the GPUs that Intel's Macs have
	}
	return t
}

// Pinned makes a Device a [device.Pinner].
func (d *Device) Pinned() (device.Device, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if d.pinned == nil {
		return nil, fmt.Errorf("metal: %s is page-locked host memory itself: %w", d.base.Name(), device.ErrUnavailable)
	}
	return d.pinned, nil
}

func (d *Device) usable() error {
	if err := d.base.Usable(); err != nil {
		return err
	}
	return d.hw.usable()
}

// MemInfo returns what the system recommends that the process has on this GPU, and what is left of it.
// Memory of all kinds counts together, and other buffers of the process with it.
func (d *Device) MemInfo() (free, total int64, err error) {
	if err := d.usable(); err != nil {
		return 0, 0, err
	}
	free, total = d.hw.memInfo()
	return free, total, nil
}

// Close closes the pinned memory too.
func (d *Device) Close() error {
	if owns, err := base.CloseParent(&d.owner); owns {
		return err
	}
	if err := d.base.Close(); err != nil {
		return err
	}
	if d.pinned != nil {
		_ = d.pinned.base.Close()
	}
	return nil
}
