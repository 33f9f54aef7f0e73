package devicetest

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// copies: in each direction, in part, and over lengths that are no round number.
func copies(t *testing.T, d device.Device) {
	needsMemory(t, d)
	for _, n := range []int{1, 7, 4096, 65535, 200001} {
		a, b := alloc(t, d, n), alloc(t, d, n)
		write(t, d, a, pattern(n, 1))
		same(t, read(t, d, a), pattern(n, 1), "to the device and back")
		must(t, d.Copy(b, a))
		same(t, read(t, d, b), pattern(n, 1), "within the device")
		if n > 2 {
			write(t, d, part(a, 1, n-2), pattern(n-2, 2))
			want := pattern(n, 1)
			copy(want[1:], pattern(n-2, 2))
			same(t, read(t, d, a), want, "a part of a block")
			same(t, read(t, d, b), pattern(n, 1), "a copy's source was changed")
		}
		d.Free(a)
		d.Free(b)
	}
}

// copyMistakes: unequal lengths and blocks outside their region move nothing.
func copyMistakes(t *testing.T, d device.Device) {
	a, b := alloc(t, d, 100), alloc(t, d, 100)
	defer d.Free(a)
	defer d.Free(b)
	host, end := onHost(t, make([]byte, 100)), a.Region.Size()
	for what, c := range map[string][2]device.Block{
		"shorter source":          {a, part(b, 0, 99)},
		"shorter destination":     {part(a, 0, 99), b},
		"shorter host source":     {a, part(host, 0, 99)},
		"shorter host target":     {part(host, 0, 99), a},
		"nothing for something":   {a, {}},
		"negative offset":         {part(a, -1, 1), part(b, 0, 1)},
		"negative length":         {part(a, 10, -1), part(b, 10, -1)},
		"beyond the region":       {part(a, end, 1), part(b, 0, 1)},
		"source beyond it":        {part(b, 0, 2), part(a, end-1, 2)},
		"host beyond its region":  {part(a, 0, 1), part(host, host.Region.Size(), 1)},
		"offset that overflows":   {part(a, int(^uint(0)>>1), 1), part(b, 0, 1)},
		"bytes without a region":  {part(a, 0, 1), {Len: 1}},
		"target without a region": {{Len: 1}, part(a, 0, 1)},
	} {
		wants(t, d.Copy(c[0], c[1]), what, device.ErrSize)
	}
	must(t, d.Copy(device.Block{}, device.Block{}))
}

// copyAfterFree: freed memory and that of a device out of reach is refused.
func copyAfterFree(t *testing.T, d device.Device) {
	a, b := alloc(t, d, 100), alloc(t, d, 100)
	defer d.Free(a)
	d.Free(b)
	wants(t, d.Copy(a, b), "copy of freed memory", device.ErrUnavailable)
	wants(t, d.Copy(b, a), "copy to freed memory", device.ErrUnavailable)
	away := device.NewSim(1 << 20)
	c := alloc(t, away, 100)
	wants(t, d.Copy(a, c), "copy from another device", device.ErrUnavailable)
	wants(t, d.Copy(c, a), "copy to another device", device.ErrUnavailable)
}
