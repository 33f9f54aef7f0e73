package opencl

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// What keeps a device from being opened is a reason, in a sentence, why it is not there.
func TestOpenSaysWhatIsMissing(t *testing.T) {
	found := doubles(t, unchanged)
	for rest, want := range map[string]string{
		strconv.Itoa(len(found)): fmt.Sprintf(`no device "%d", only 0 to %d`, len(found), len(found)-1),

		"x":           `no device "x"`,
		"-1":          `no device "-1"`,
		"99":          `no device "99", only 0 to`,
		"0:fast":      `no form "fast", only deferred, svm, svm-fine and pinned`,
		"0:":          "nothing after the colon",
		"0:deferred:": "no form",
	} {
		d, err := openOn(found, rest)
		if d != nil {
			t.Errorf("%q opens %s", rest, d.Name())
		}
		check.Wraps(t, err, device.ErrUnavailable)
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", rest, err, want)
		}
	}
	if _, err := device.Open("opencl:0:pinned:pinned"); err == nil {
		t.Error("pinned memory of pinned memory")
	} else {
		check.Wraps(t, err, device.ErrUnavailable)
	}
}

// What Open returns is a *Device by whatever name, and its Close is the end of it.
func TestOpenReturnsADevice(t *testing.T) {
	for _, form := range formNames() {
		t.Run(form, func(t *testing.T) {
			opened(t, form, unchanged) // or the form is not there
			name := strings.TrimSuffix("opencl:0:"+form, ":")
			o := check.Ok(device.Open(name))(t)
			d, is := o.(*Device)
			if !is {
				t.Fatalf("%s is a %T", name, o)
			}
			if d.Name() != name || d.Info().Name != "opencl:0" {
				t.Errorf("%s is %s on %s", name, d.Name(), d.Info().Name)
			}
			check.Must(t, d.Close())
			for _, err := range []error{check.Err(d.Alloc(1)), check.Err(d.NewStream()), d.Close()} {
				check.Wraps(t, err, device.ErrClosed)
			}
		})
	}
}

// A driver that fails while it is looked at, or while its device is opened.
func TestDriverThatDoesNotOpen(t *testing.T) {
	real := *doubles(t, unchanged)[0].api
	for what, c := range map[string]struct {
		change func(*api)
		says   string
	}{
		"no platform":           {failing("GetPlatformIDs", -1001), "CL_PLATFORM_NOT_FOUND_KHR"},
		"no room for platforms": {failing("GetPlatformIDs", -6), "CL_OUT_OF_HOST_MEMORY"},
		"no device":             {failing("GetDeviceIDs", noDevice), "CL_DEVICE_NOT_FOUND"},
		"no answer":             {failing("GetDeviceInfo", -6), "CL_OUT_OF_HOST_MEMORY"},
		"device list":           {failing("GetDeviceIDs", -5), "CL_OUT_OF_RESOURCES"},
		"no platform left": {func(a *api) {
			a.GetPlatformIDs = func(_ uint32, _ *platformID, n *uint32) code { *n = 0; return succeeded }
		}, "0 platforms"},
	} {
		a := real
		c.change(&a)
		found, err := list(&a)
		check.Wraps(t, err, device.ErrUnavailable)
		if found != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: found %d, %v", what, len(found), err)
		}
	}
	for _, k := range []code{-2, -5, -6, -33} {
		var l ledger
		broken := k
		found := doubles(t, func(a *api) {
			l.watch(a)
			fails(a, func() code { return broken }, "CreateCommandQueue")
		})
		check.Wraps(t, check.Err(openOn(found, "0")), device.ErrUnavailable)
		if l != (ledger{}) {
			t.Errorf("%+v stay behind", l)
		}
		broken = succeeded
		d := check.Ok(openOn(found, "0"))(t)
		check.Must(t, d.Close())
	}
}

// failing makes a function of the driver fail from the start.
func failing(name string, k code) func(*api) {
	return func(a *api) { fails(a, func() code { return k }, name) }
}

// A broken driver does not keep others from being used.
func TestDriverBesideABrokenOne(t *testing.T) {
	const broken = platformID(1)
	found := doubles(t, func(a *api) {
		real := *a
		a.GetPlatformIDs = func(room uint32, ids *platformID, n *uint32) code {
			if ids == nil {
				k := real.GetPlatformIDs(0, nil, n)
				*n++
				return k
			}
			*ids = broken
			return real.GetPlatformIDs(room-1, (*platformID)(unsafe.Add(unsafe.Pointer(ids), unsafe.Sizeof(*ids))), n)
		}
		a.GetPlatformInfo = func(p platformID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code {
			if p == broken {
				return -32
			}
			return real.GetPlatformInfo(p, what, room, value, size)
		}
		a.GetDeviceIDs = func(p platformID, kinds uint64, room uint32, ids *deviceID, n *uint32) code {
			if p == broken {
				return -6
			}
			return real.GetDeviceIDs(p, kinds, room, ids, n)
		}
	})
	d := check.Ok(openOn(found, "0"))(t)
	d.Free(devcheck.Alloc(t, d, 100))
	check.Must(t, d.Close())
}

// A device that does not say what it is is left out, and the others have numbers without a gap.
func TestDeviceBesideABrokenOne(t *testing.T) {
	const broken = deviceID(1)
	found := doubles(t, func(a *api) {
		real := *a
		a.GetDeviceIDs = func(p platformID, kinds uint64, room uint32, ids *deviceID, n *uint32) code {
			if ids == nil {
				*n = 3
				return succeeded
			}
			list := unsafe.Slice(ids, 3)
			k := real.GetDeviceIDs(p, kinds, 1, ids, nil)
			list[1], list[2] = broken, list[0]
			return k
		}
		a.GetDeviceInfo = func(d deviceID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code {
			if d == broken {
				return -33
			}
			return real.GetDeviceInfo(d, what, room, value, size)
		}
	})
	if len(found)%2 != 0 { // two of each platform
		t.Fatalf("%d devices", len(found))
	}
	for i, h := range found {
		d := check.Ok(openOn(found, strconv.Itoa(i)))(t)
		if want := fmt.Sprintf("opencl:%d", i); d.Name() != want || h.Info.Name != want {
			t.Errorf("device %d is %s", i, d.Name())
		}
		check.Must(t, d.Close())
	}
}

// What a driver says of a device is kept in bytes, and a region never has more than the device.
func TestInfoIsWhatTheDriverSays(t *testing.T) {
	for _, c := range []struct {
		bits, most, total, svm uint64
		want                   Info
	}{
		{1024, 1 << 30, 4 << 30, 1 | 2, Info{AlignBytes: 128, MaxBytes: 1 << 30, GlobalBytes: 4 << 30, SVM: true, SVMFine: true}},
		{8, 3 << 30, 1 << 30, 1, Info{AlignBytes: 1, MaxBytes: 1 << 30, GlobalBytes: 1 << 30, SVM: true}},
		{0, math.MaxUint64, math.MaxUint64, 4, Info{AlignBytes: 1, MaxBytes: math.MaxInt, GlobalBytes: math.MaxInt64}},
	} {
		says := map[uint32]uint64{deviceBaseAddrAlign: c.bits, deviceMaxAlloc: c.most, deviceGlobalMem: c.total, deviceSVM: c.svm}
		h := doubles(t, func(a *api) {
			real := a.GetDeviceInfo
			a.GetDeviceInfo = func(d deviceID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code {
				n, ok := says[what]
				if !ok {
					return real(d, what, room, value, size)
				}
				if room == 4 {
					*(*uint32)(value) = uint32(n)
				} else {
					*(*uint64)(value) = n
				}
				return succeeded
			}
		})[0]
		c.want.Name, c.want.Platform, c.want.Device, c.want.Version, c.want.Driver = h.Name, h.Platform, h.Device, h.Version, h.Driver
		if h.Info != c.want || h.memory.Total != c.want.GlobalBytes {
			t.Errorf("%+v, and there is room for %d", h.Info, h.memory.Total)
		}
	}
}

// Text of a driver ends where C's does. Where it says nothing there is none.
func TestTextOfADriver(t *testing.T) {
	for says, want := range map[string]string{"one\x00two": "one", "one": "one", "": "", "\x00": ""} {
		for _, fails := range []int{0, 1, 2} {
			calls := 0
			got := text(func(room uintptr, m unsafe.Pointer, n *uintptr) code {
				if calls++; calls == fails {
					return -30
				}
				if m == nil {
					if *n = uintptr(len(says)); room != 0 {
						t.Errorf("%d bytes at no address", room)
					}
				} else {
					copy(unsafe.Slice((*byte)(m), room), says)
				}
				return succeeded
			})
			if fails == 0 && got != want || fails != 0 && got != "" && calls >= fails {
				t.Errorf("%q, call %d fails: %q", says, fails, got)
			}
		}
	}
}

// Pinned memory has the room that the machine tells.
func TestHostBytes(t *testing.T) {
	heap := check.Ok(device.Open("heap"))(t)
	defer heap.Close()
	_, total, err := heap.MemInfo()
	if err != nil {
		total = math.MaxInt64
	}
	if n := hostBytes(); n != total {
		t.Errorf("%d bytes, not %d", n, total)
	}
}

// Hardware without a form says so, and is asked for nothing that it lacks.
func TestFormsThatAreNotThere(t *testing.T) {
	found := doubles(t, func(a *api) {
		a.SVMAlloc = nil // as in a library before OpenCL 2.0
	})
	for form, want := range map[string]string{"svm": "has no shared virtual memory", "svm-fine": "has no fine-grained shared virtual memory"} {
		_, err := openOn(found, "0:"+form)
		check.Wraps(t, err, device.ErrUnavailable)
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

// Devices of a number share a context, which goes with the last that refers to it.
func TestContextGoesWithItsLastUser(t *testing.T) {
	var l ledger
	found := doubles(t, l.watch)
	a := check.Ok(openOn(found, "0"))(t)
	b := check.Ok(openOn(found, "0:deferred"))(t)
	if a.ctx != b.ctx || l.contexts != 1 || l.queues != 1 {
		t.Errorf("two devices have %+v", l)
	}
	blk := devcheck.Alloc(t, a, 100)
	s := devcheck.Stream(t, b)
	check.Must(t, a.Close(), b.Close())
	if l.contexts != 1 {
		t.Error("the context went before a region and a stream of it")
	}
	check.Must(t, s.Close())
	a.Free(blk)
	if l != (ledger{}) {
		t.Errorf("%+v stay behind", l)
	}
}

// The context stays as long as a call uses it, also if its device is closed meanwhile.
func TestCloseBesideACall(t *testing.T) {
	for _, form := range formNames() {
		t.Run(form, func(t *testing.T) {
			besideClose(t, form, func(d *Device) func() {
				b := devcheck.Alloc(t, d, 100)
				return func() { d.Free(b) }
			})
			besideClose(t, form, func(d *Device) func() {
				s := devcheck.Stream(t, d)
				return func() { check.Must(t, s.Close()) }
			})
		})
	}
}

// besideClose has a device closed while make is in the driver, and undoes make afterwards.
func besideClose(t *testing.T, form string, make func(*Device) (undo func())) {
	var l ledger
	closing := func() {}
	parent := opened(t, strings.TrimPrefix(form, pinned.name), func(a *api) {
		l.watch(a)
		wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
			closing()
			if l.contexts != 1 {
				t.Fatal("the context went during a call") // which would end the process
			}
			return call()
		}, "CreateBuffer", "SVMAlloc", "CreateCommandQueue")
	})
	d := parent
	if form == pinned.name {
		d = parent.pinned
	}
	closing = func() {
		closing = func() {}
		check.Must(t, parent.Close())
	}
	make(d)()
	if l != (ledger{}) {
		t.Errorf("%+v stay behind", l)
	}
}

// A lost device takes no more work and gives everything back; the next one works.
func TestLostDevice(t *testing.T) {
	lost := succeeded
	var l ledger
	found := doubles(t, func(a *api) {
		l.watch(a)
		fails(a, func() code { return lost }, "EnqueueReadBuffer")
	})
	d := check.Ok(openOn(found, "0"))(t)
	blk := devcheck.Alloc(t, d, 100)
	s := devcheck.Stream(t, d)
	lost = -36
	back := device.Host(make([]byte, 100))
	check.Wraps(t, d.Copy(back, blk), device.ErrDeviceLost)
	lost = succeeded
	check.Wraps(t, d.Copy(back, blk), device.ErrDeviceLost)
	check.Wraps(t, check.Err(d.Alloc(1)), device.ErrDeviceLost)
	_, _, err := d.MemInfo()
	check.Wraps(t, err, device.ErrDeviceLost)
	check.Wraps(t, check.Err(d.NewStream()), device.ErrDeviceLost)
	check.Wraps(t, check.Err(d.SubBuffer(blk)), device.ErrDeviceLost)
	check.Wraps(t, s.Copy(blk, back), device.ErrDeviceLost)
	check.Wraps(t, s.Sync(), device.ErrDeviceLost)
	check.Must(t, s.Close())
	fresh := check.Ok(openOn(found, "0"))(t)
	fresh.Free(devcheck.Alloc(t, fresh, 100))
	check.Must(t, fresh.Close())
	d.Free(blk)
	check.Must(t, d.Close())
	if l != (ledger{}) {
		t.Errorf("%+v stay behind", l)
	}
}

// There is as much room as the driver says, or the machine has for pinned
// memory, and no driver is asked for more.
func TestRoomIsTheDevices(t *testing.T) {
	for _, form := range formNames() {
		t.Run(form, func(t *testing.T) {
			d := opened(t, form, unchanged)
			d.ctx.MaxBytes, d.room().Total = 6_000, 10_000
			a := devcheck.Alloc(t, d, 6_000)
			if free, total, err := d.MemInfo(); free != 4_000 || total != 10_000 || err != nil {
				t.Errorf("%d of %d, %v", free, total, err)
			}
			for _, n := range []int{4_001, 6_001} {
				check.Wraps(t, check.Err(d.Alloc(n)), device.ErrOutOfMemory)
			}
			b := devcheck.Alloc(t, d, 4_000)
			d.Free(a)
			d.Free(b)
			if free, _, _ := d.MemInfo(); free != 10_000 {
				t.Errorf("%d free at the end", free)
			}
		})
	}
}

// A device frees its own blocks only, not those of another of the same hardware.
func TestFreeIsOfTheDevice(t *testing.T) {
	d := opened(t, "", unchanged)
	b := devcheck.Alloc(t, d, 100)
	check.Panics(t, "a block of another device", func() { d.pinned.Free(b) })
	check.Panics(t, "a block of the heap", func() { d.Free(device.Host(make([]byte, 100))) })
	d.Free(b)
}

func TestDevicesDescribes(t *testing.T) {
	infos, err := Devices()
	if err != nil {
		check.Wraps(t, err, device.ErrUnavailable)
		t.Skipf("the device is not there: %v", err)
	}
	if len(infos) == 0 {
		t.Error("no device and no error")
	}
	for i, in := range infos {
		t.Log(in)
		if in.Device == "" || in.Platform == "" || !strings.HasPrefix(in.Version, "OpenCL ") || in.AlignBytes < 1 ||
			in.MaxBytes < 1 || in.GlobalBytes < in.MaxBytes || !strings.HasPrefix(in.String(), in.Name+": ") {
			t.Errorf("device %d: %+v", i, in)
		}
	}
	d := opened(t, "", unchanged)
	if p, id, c := d.Handles(); p == 0 || id == 0 || c == 0 || d.Info() != d.ctx.Info {
		t.Errorf("%x %x %x", p, id, c)
	}
}

// A list is asked for how many it has, then for as many. One is a list, too.
func TestAListTakesTwoCalls(t *testing.T) {
	for has := range uint32(3) {
		calls := 0
		got, c := all(func(room uint32, ids *uint32, n *uint32) code {
			switch calls++; {
			case calls == 1 && room == 0 && ids == nil && n != nil:
				*n = has
			case calls == 2 && room == has && ids != nil:
				*ids = 7
			default:
				t.Errorf("call %d has room for %d", calls, room)
			}
			return succeeded
		})
		if c != succeeded || len(got) != int(has) || has > 0 && got[0] != 7 {
			t.Errorf("of %d: %v, %v", has, got, c)
		}
	}
}
