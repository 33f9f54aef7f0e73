package opencl

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// scripted is a driver without one: a platform of some devices.
func scripted(devices uint32) *api {
	const platform = platformID(5)
	describe := func(what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code {
		switch {
		case size != nil:
			*size = 2
		case room == 2:
			copy(unsafe.Slice((*byte)(value), room), "x\x00")
		case room == 4:
			*(*uint32)(value) = 512
		case room == 8:
			*(*uint64)(value) = 1 << 20
		default:
			return -30
		}
		return succeeded
	}
	return &api{
		GetPlatformIDs: func(room uint32, ids *platformID, n *uint32) code {
			if n != nil {
				*n = 1
			}
			if ids != nil {
				*ids = platform
			}
			return succeeded
		},
		GetPlatformInfo: func(p platformID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code {
			if p != platform {
				return -32
			}
			return describe(what, room, value, size)
		},
		GetDeviceIDs: func(p platformID, kinds uint64, room uint32, ids *deviceID, n *uint32) code {
			if p != platform {
				return -32
			}
			if n != nil {
				*n = devices
			}
			for i := range room {
				unsafe.Slice(ids, room)[i] = deviceID(10 + i)
			}
			return succeeded
		},
		GetDeviceInfo: func(d deviceID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code {
			if d < 10 || d >= deviceID(10+devices) {
				return -33
			}
			return describe(what, room, value, size)
		},
	}
}

// What a driver lists is found, in its order. So a fault here is none of those for which other tests skip.
func TestListFindsWhatThereIs(t *testing.T) {
	for devices := range uint32(4) {
		found, err := list(scripted(devices))
		if devices == 0 {
			check.Wraps(t, err, device.ErrUnavailable)
		} else if check.Must(t, err); len(found) != int(devices) {
			t.Fatalf("%d devices of %d", len(found), devices)
		}
		for i, h := range found {
			want := Info{Name: fmt.Sprintf("opencl:%d", i), Platform: "x", Device: "x", Version: "x", Driver: "x",
				GlobalBytes: 1 << 20, MaxBytes: 1 << 20, AlignBytes: 64}
			if h.id != deviceID(10+i) || h.platform != 5 || h.Info != want {
				t.Errorf("device %d: %d of %d, %+v", i, h.id, h.platform, h.Info)
			}
		}
	}
}

// Shared virtual memory has the flags of kernels alone, and nothing has two of a kind.
func TestFlagsThatFit(t *testing.T) {
	for f, want := range map[MemFlags]struct{ buffers, shared bool }{
		0: {true, true}, ReadWrite: {true, true}, ReadOnly: {true, true}, WriteOnly: {true, true},
		AllocHostPtr: {buffers: true}, HostReadOnly: {buffers: true}, ReadOnly | HostNoAccess: {buffers: true},
		ReadWrite | WriteOnly: {}, ReadWrite | ReadOnly: {}, WriteOnly | ReadOnly: {}, HostReadOnly | HostWriteOnly: {},
		HostReadOnly | HostNoAccess: {}, HostWriteOnly | HostNoAccess: {}, 1 << 3: {}, 1 << 5: {}, 1 << 6: {}, 1 << 10: {}, 1 << 63: {},
	} {
		if buffers, shared := f.fault(true), f.fault(false); (buffers == "") != want.buffers || (shared == "") != want.shared {
			t.Errorf("%#x: %q, as shared virtual memory %q", uint64(f), buffers, shared)
		}
	}
}
