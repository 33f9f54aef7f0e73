package devicetest

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
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
		for _, kind := range []string{"heap", "mmap"} {
			host, err := device.Open(kind)
			if errors.Is(err, device.ErrUnavailable) {
				continue
			}
			must(t, err)
			h := alloc(t, host, n)
			must(t, d.Copy(h, b), d.Copy(a, h))
			same(t, read(t, d, a), pattern(n, 1), "by way of memory of "+kind)
			host.Free(h)
		}
		d.Free(a)
		d.Free(b)
	}
}

// overlappingCopies: bytes that overlap move as if by way of somewhere else,
// large or small, at once and in a stream.
func overlappingCopies(t *testing.T, d device.Device) {
	needsMemory(t, d)
	const n = 3<<20 + 1001
	b, s := alloc(t, d, n), stream(t, d)
	defer d.Free(b)
	streamed := func(dst, src device.Block) error {
		must(t, s.Copy(dst, src))
		return s.Sync()
	}
	for _, c := range []struct{ n, to, from int }{
		{1000, 0, 0}, {1000, 0, 1}, {1000, 1, 0}, {1000, 0, 300}, {1000, 300, 0}, {1000, 0, 500}, {1000, 995, 0},
		{n, 0, 1000}, {n, 2<<20 + 5, 0},
	} {
		for what, move := range map[string]func(dst, src device.Block) error{"Device": d.Copy, "Stream": streamed} {
			want, moved := pattern(c.n, c.to), c.n-max(c.to, c.from)
			write(t, d, part(b, 0, c.n), want)
			copy(want[c.to:c.to+moved], want[c.from:])
			must(t, move(part(b, c.to, moved), part(b, c.from, moved)))
			same(t, read(t, d, part(b, 0, c.n)), want, what+".Copy of bytes over themselves")
		}
	}
	must(t, s.Close())
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
	away := sim.New(1 << 20)
	c := alloc(t, away, 100)
	wants(t, d.Copy(a, c), "copy from another device", device.ErrUnavailable)
	wants(t, d.Copy(c, a), "copy to another device", device.ErrUnavailable)
}
