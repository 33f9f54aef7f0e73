package opencl

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

// Info describes a device of the system.
type Info struct {
	Name     string // what device.Open takes: opencl:0
	Platform string // the driver's name
	Device   string // the hardware's
	Version  string // of OpenCL, and what the driver adds to it
	Driver   string // its version

	GlobalBytes int64 // of memory
	MaxBytes    int64 // of one region
	AlignBytes  int   // of sub-buffers, see device.Traits
	SVM         bool  // has the form svm
	SVMFine     bool  // has the form svm-fine
}

// String returns a line for people.
func (i Info) String() string {
	return fmt.Sprintf("%s: %s, %s, %s, driver %s", i.Name, i.Device, i.Platform, i.Version, i.Driver)
}

// Devices lists the devices of the system in the order of their numbers. The
// error wraps [device.ErrUnavailable] where there is no library or no driver.
// Devices is safe for concurrent use.
func Devices() ([]Info, error) {
	found, err := system()
	if err != nil {
		return nil, err
	}
	infos := make([]Info, len(found))
	for i, h := range found {
		infos[i] = h.Info
	}
	return infos, nil
}

// system loads the library and looks what there is, once: devices of one
// number share what hardware has.
var system = sync.OnceValues(func() ([]*hardware, error) {
	a, err := load(libraries())
	if err != nil {
		return nil, err
	}
	return list(a)
})

// hardware is one device of the system, opened or not.
type hardware struct {
	*api
	Info
	id       deviceID
	platform platformID
	memory   base.Budget // of the device
	host     base.Budget // of the machine, for pinned memory

	mu     sync.Mutex
	shared *context // by the devices that are open; nil while there is none
}

// list returns the devices of all platforms. One that is broken does not keep
// others from being used; that it is tells only where nothing else is there.
func list(a *api) ([]*hardware, error) {
	platforms, c := all(a.GetPlatformIDs)
	if err := failed(c, "clGetPlatformIDs", "the drivers of this system"); err != nil {
		return nil, unavailable(err)
	}
	var found []*hardware
	missing := failed(noDevice, "clGetDeviceIDs", "%d platforms", len(platforms))
	for _, p := range platforms {
		ids, c := all(func(room uint32, ids *deviceID, n *uint32) code {
			return a.GetDeviceIDs(p, anyDevice, room, ids, n)
		})
		if c != succeeded && c != noDevice {
			missing = errors.Join(missing, failed(c, "clGetDeviceIDs", "platform %q", a.platformText(p, platformName)))
		}
		for _, id := range ids {
			h := &hardware{api: a, id: id, platform: p}
			if err := h.describe(len(found)); err != nil {
				missing = errors.Join(missing, err)
				continue
			}
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		return nil, unavailable(missing)
	}
	return found, nil
}

// all is the two calls that a list of OpenCL takes: how many, and which.
func all[T any](get func(room uint32, ids *T, n *uint32) code) ([]T, code) {
	var n uint32
	if c := get(0, nil, &n); c != succeeded || n == 0 {
		return nil, c
	}
	ids := make([]T, n)
	if c := get(n, &ids[0], nil); c != succeeded {
		return nil, c
	}
	return ids, succeeded
}

// describe asks for everything that is known about the device in advance.
func (h *hardware) describe(number int) error {
	var bits uint32
	var most, total, svm uint64
	c := h.number(deviceBaseAddrAlign, unsafe.Pointer(&bits), unsafe.Sizeof(bits))
	c = min(c, h.number(deviceMaxAlloc, unsafe.Pointer(&most), unsafe.Sizeof(most)))
	c = min(c, h.number(deviceGlobalMem, unsafe.Pointer(&total), unsafe.Sizeof(total)))
	if c != succeeded {
		return failed(c, "clGetDeviceInfo", "device %d", number)
	}
	_ = h.number(deviceSVM, unsafe.Pointer(&svm), unsafe.Sizeof(svm)) // before 2.0 it is no question
	if h.SVMAlloc == nil {
		svm = 0
	}
	h.Info = Info{
		Name:     fmt.Sprintf("opencl:%d", number),
		Platform: h.platformText(h.platform, platformName),
		Device:   h.deviceText(deviceName), Version: h.deviceText(deviceVersion), Driver: h.deviceText(driverVersion),
		GlobalBytes: int64(min(total, math.MaxInt64)), MaxBytes: int64(min(most, total, math.MaxInt)),
		AlignBytes: max(1, int(bits/8)), SVM: svm&svmCoarse != 0, SVMFine: svm&svmFine != 0,
	}
	h.memory.Total, h.host.Total = h.GlobalBytes, hostBytes()
	return nil
}

func (h *hardware) number(what uint32, value unsafe.Pointer, size uintptr) code {
	return h.GetDeviceInfo(h.id, what, size, value, nil)
}

func (h *hardware) deviceText(what uint32) string {
	return text(func(room uintptr, m unsafe.Pointer, n *uintptr) code {
		return h.GetDeviceInfo(h.id, what, room, m, n)
	})
}

func (a *api) platformText(p platformID, what uint32) string {
	return text(func(room uintptr, m unsafe.Pointer, n *uintptr) code { return a.GetPlatformInfo(p, what, room, m, n) })
}

// text returns what a driver says about itself, "" where it says nothing:
// nothing depends on it.
func text(get func(room uintptr, m unsafe.Pointer, n *uintptr) code) string {
	var n uintptr
	if get(0, nil, &n) != succeeded || n == 0 {
		return ""
	}
	m := make([]byte, n)
	if get(n, unsafe.Pointer(&m[0]), nil) != succeeded {
		return ""
	}
	m, _, _ = bytes.Cut(m, []byte{0})
	return string(m)
}

// unavailable makes whatever keeps a device from being opened a reason why it
// is not there.
func unavailable(err error) error {
	if errors.Is(err, device.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", err, device.ErrUnavailable)
}

// hostBytes is the memory of the machine, no limit where it does not tell.
func hostBytes() int64 {
	if heap, err := device.Open("heap"); err == nil {
		defer heap.Close()
		if _, total, err := heap.MemInfo(); err == nil {
			return total
		}
	}
	return math.MaxInt64
}
