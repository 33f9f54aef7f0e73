package devicetest

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

func pinnedOf(t *testing.T, d device.Device) device.Device {
	t.Helper()
	p, is := d.(device.Pinner)
	if !is {
		t.Skip("the device has no page-locked host memory")
	}
	m, err := p.Pinned()
	unavailable(t, err, "the device has no page-locked host memory")
	return m
}

// pinned: host memory at any size, from which streams copy.
func pinned(t *testing.T, d device.Device) {
	p := pinnedOf(t, d)
	if again, err := d.(device.Pinner).Pinned(); err != nil || again != p {
		t.Errorf("Pinned gives another device at its second call, error %v", err)
	}
	if want := d.Name() + ":pinned"; p.Name() != want {
		t.Errorf("pinned memory has the name %s, not %s", p.Name(), want)
	}
	needsMemory(t, d)
	s := stream(t, d)
	for _, n := range []int{1, 511, 512, 4097, 100001, 1 << 20} {
		from, to, b := alloc(t, p, n), alloc(t, p, n), alloc(t, d, n)
		if m := device.Bytes(from); len(m) != n {
			t.Fatalf("the CPU reaches %d of %d pinned bytes", len(m), n)
		}
		copy(device.Bytes(from), pattern(n, n))
		must(t, s.Copy(b, from), s.Copy(to, b), s.Sync())
		same(t, device.Bytes(to), pattern(n, n), "pinned memory, to the device and back")
		must(t, d.Copy(b, to))
		d.Free(b)
		p.Free(from)
		p.Free(to)
		wants(t, d.Copy(device.Host(make([]byte, n)), from), "copy of freed pinned memory", device.ErrUnavailable)
	}
	must(t, s.Close())
}

// pinnedCloses: it is closed with its device, and memory stays until Free.
func pinnedCloses(t *testing.T, d device.Device) {
	p := pinnedOf(t, d)
	b := alloc(t, p, 100)
	copy(device.Bytes(b), pattern(100, 1))
	must(t, d.Close())
	_, err := p.Alloc(1)
	wants(t, err, "Alloc of pinned memory of a closed device", device.ErrClosed)
	_, err = d.(device.Pinner).Pinned()
	wants(t, err, "Pinned of a closed device", device.ErrClosed)
	same(t, device.Bytes(b), pattern(100, 1), "pinned memory of a closed device")
	p.Free(b)
	mustPanic(t, "second Free of pinned memory", func() { p.Free(b) })
}
