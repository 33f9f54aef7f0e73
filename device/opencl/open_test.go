package opencl

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// What keeps a device from being opened is a reason, in a sentence, why it is not there.
func TestOpenSaysWhatIsMissing(t *testing.T) {
	found := doubles(t, unchanged)
	for rest, want := range map[string]string{
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
		wants(t, err, device.ErrUnavailable)
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", rest, err, want)
		}
	}
	if _, err := device.Open("opencl:0:pinned:pinned"); err == nil {
		t.Error("pinned memory of pinned memory")
	} else {
		wants(t, err, device.ErrUnavailable)
	}
}

func TestNameOpensTheSameAgain(t *testing.T) {
	found := doubles(t, unchanged)
	for rest, want := range map[string]string{"": "opencl", "0": "opencl:0", "0:deferred": "opencl:0:deferred"} {
		d, err := openOn(found, rest)
		must(t, err)
		p, err := d.Pinned()
		must(t, err)
		if again, _ := d.Pinned(); d.Name() != want || p.Name() != want+":pinned" || again != p {
			t.Errorf("%q opens %s with %s", rest, d.Name(), p.Name())
		}
		must(t, d.Close())
		_, err = p.Alloc(1)
		wants(t, err, device.ErrClosed)
		_, err = d.Pinned()
		wants(t, err, device.ErrClosed)
	}
}

// A driver that fails while it is looked at, or while its device is opened.
func TestDriverThatDoesNotOpen(t *testing.T) {
	real := *doubles(t, unchanged)[0].api
	for what, change := range map[string]func(*api){
		"no platform": func(a *api) {
			a.GetPlatformIDs = func(uint32, *platformID, *uint32) code { return -1001 }
		},
		"no room for platforms": func(a *api) {
			a.GetPlatformIDs = func(uint32, *platformID, *uint32) code { return -6 }
		},
		"no device": func(a *api) {
			a.GetDeviceIDs = func(platformID, uint64, uint32, *deviceID, *uint32) code { return noDevice }
		},
		"no platform left": func(a *api) {
			a.GetPlatformIDs = func(_ uint32, _ *platformID, n *uint32) code { *n = 0; return succeeded }
		},
		"no answer": func(a *api) {
			a.GetDeviceInfo = func(deviceID, uint32, uintptr, unsafe.Pointer, *uintptr) code { return -6 }
		},
		"device list": func(a *api) {
			a.GetDeviceIDs = func(platformID, uint64, uint32, *deviceID, *uint32) code { return -5 }
		},
	} {
		a := real
		change(&a)
		found, err := list(&a)
		wants(t, err, device.ErrUnavailable)
		if found != nil {
			t.Errorf("%s: found %d", what, len(found))
		}
	}
	for _, k := range []code{-2, -5, -6, -33} {
		var l ledger
		broken := true
		found := doubles(t, func(a *api) {
			l.watch(a)
			make := a.CreateCommandQueue
			a.CreateCommandQueue = func(c contextID, d deviceID, properties uint64, err *code) queueID {
				if broken {
					*err = k
					return 0
				}
				return make(c, d, properties, err)
			}
		})
		_, err := openOn(found, "0")
		wants(t, err, device.ErrUnavailable)
		if l != (ledger{}) {
			t.Errorf("%+v stay behind", l)
		}
		broken = false
		d, err := openOn(found, "0")
		must(t, err)
		must(t, d.Close())
	}
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
	d, err := openOn(found, "0")
	must(t, err)
	d.Free(mustAlloc(t, d, 100))
	must(t, d.Close())
}

// Hardware without a form says so, and is asked for nothing that it lacks.
func TestFormsThatAreNotThere(t *testing.T) {
	found := doubles(t, func(a *api) {
		a.SVMAlloc = nil // as in a library before OpenCL 2.0
	})
	for form, want := range map[string]string{"svm": "has no shared virtual memory", "svm-fine": "has no fine-grained shared virtual memory"} {
		_, err := openOn(found, "0:"+form)
		wants(t, err, device.ErrUnavailable)
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

// Devices of a number share a context, which goes with the last that refers to it.
func TestContextGoesWithItsLastUser(t *testing.T) {
	var l ledger
	found := doubles(t, l.watch)
	a, err := openOn(found, "0")
	must(t, err)
	b, err := openOn(found, "0:deferred")
	must(t, err)
	if a.ctx != b.ctx || l.contexts != 1 || l.queues != 1 {
		t.Errorf("two devices have %+v", l)
	}
	blk := mustAlloc(t, a, 100)
	s, err := b.NewStream()
	must(t, err)
	must(t, a.Close())
	must(t, b.Close())
	if l.contexts != 1 {
		t.Error("the context went before a region and a stream of it")
	}
	must(t, s.Close())
	a.Free(blk)
	if l != (ledger{}) {
		t.Errorf("%+v stay behind", l)
	}
}

// A lost device takes no more work and gives everything back; the next one works.
func TestLostDevice(t *testing.T) {
	lost := false
	var l ledger
	found := doubles(t, func(a *api) {
		l.watch(a)
		read := a.EnqueueReadBuffer
		a.EnqueueReadBuffer = func(q queueID, m memID, wait uint32, off, size uintptr, host unsafe.Pointer, n uint32, after, done *eventID) code {
			if lost {
				return -36
			}
			return read(q, m, wait, off, size, host, n, after, done)
		}
	})
	d, err := openOn(found, "0")
	must(t, err)
	blk := mustAlloc(t, d, 100)
	s, err := d.NewStream()
	must(t, err)
	lost = true
	back := device.Host(make([]byte, 100))
	wants(t, d.Copy(back, blk), device.ErrDeviceLost)
	lost = false
	wants(t, d.Copy(back, blk), device.ErrDeviceLost)
	_, err = d.Alloc(1)
	wants(t, err, device.ErrDeviceLost)
	_, _, err = d.MemInfo()
	wants(t, err, device.ErrDeviceLost)
	_, err = d.NewStream()
	wants(t, err, device.ErrDeviceLost)
	_, err = d.SubBuffer(blk)
	wants(t, err, device.ErrDeviceLost)
	wants(t, s.Copy(blk, back), device.ErrDeviceLost)
	wants(t, s.Sync(), device.ErrDeviceLost)
	must(t, s.Close())
	fresh, err := openOn(found, "0")
	must(t, err)
	fresh.Free(mustAlloc(t, fresh, 100))
	must(t, fresh.Close())
	d.Free(blk)
	must(t, d.Close())
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
			d.ctx.MaxBytes, d.room().total = 6_000, 10_000
			a := mustAlloc(t, d, 6_000)
			if free, total, err := d.MemInfo(); free != 4_000 || total != 10_000 || err != nil {
				t.Errorf("%d of %d, %v", free, total, err)
			}
			for _, n := range []int{4_001, 6_001} {
				_, err := d.Alloc(n)
				wants(t, err, device.ErrOutOfMemory)
			}
			b := mustAlloc(t, d, 4_000)
			d.Free(a)
			d.Free(b)
			if free, _, _ := d.MemInfo(); free != 10_000 {
				t.Errorf("%d free at the end", free)
			}
		})
	}
}

func TestDevicesDescribes(t *testing.T) {
	infos, err := Devices()
	if err != nil {
		wants(t, err, device.ErrUnavailable)
		t.Skipf("the device is not there: %v", err)
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
