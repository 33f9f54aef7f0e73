//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

// registered holds all regions of Register until they are freed. Pages of one that was
// forgotten are still locked, so its memory must not become anything else.
var registered sync.Map

// Register makes m a Registrar.
func (m *memory) Register(host []byte) (device.Block, error) {
	if err := m.Usable(); err != nil {
		return device.Block{}, err
	}
	if len(host) == 0 {
		return device.Block{}, fmt.Errorf("cuda: register of 0 bytes on %s: %w", m.Name(), device.ErrSize)
	}
	var pin runtime.Pinner
	pin.Pin(unsafe.SliceData(host))
	if err := m.do(func() error { return hostRegister(host) }); err != nil {
		pin.Unpin()
		return device.Block{}, fmt.Errorf("cuda: register of %d bytes on %s: %w", len(host), m.Name(), err)
	}
	r := &region{owner: m, size: len(host), host: host[:len(host):len(host)], portable: true}
	r.addr = cu.DevicePtr(uintptr(unsafe.Pointer(unsafe.SliceData(host))))
	r.free = func(p cu.DevicePtr) error {
		defer pin.Unpin()
		registered.Delete(r)
		return hostUnregister(p)
	}
	registered.Store(r, nil)
	return device.Block{Region: r, Len: len(host)}, nil
}
