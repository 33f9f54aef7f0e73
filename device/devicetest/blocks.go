package devicetest

import (
	"math"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// sizes: a block is as long as asked, at the start of a region of at least that.
func sizes(t *testing.T, d device.Device) {
	b := alloc(t, d, 0)
	if b != (device.Block{}) {
		t.Errorf("Alloc(0) gave %+v, not the zero Block", b)
	}
	d.Free(b) // ignored, as often as one likes
	d.Free(b)
	for _, n := range []int{1, 2, 15, 16, 17, 63, 64, 65, 255, 4095, 4096, 4097, 1 << 20, 1<<20 + 1} {
		b := alloc(t, d, n)
		if b.Region == nil || b.Off != 0 || b.Len != n || b.Region.Size() < n {
			t.Errorf("Alloc(%d) gave %d bytes at offset %d of a region of %d", n, b.Len, b.Off, b.Region.Size())
		}
		d.Free(b)
	}
}

// impossibleSizes: no size ends the process, and a refused one changes nothing.
func impossibleSizes(t *testing.T, d device.Device) {
	for _, n := range []int{-1, -4096, math.MinInt} {
		_, err := d.Alloc(n)
		wants(t, err, "negative size", device.ErrSize)
	}
	for _, n := range []int{math.MaxInt, math.MaxInt - 62, math.MaxInt - 4094, math.MaxInt >> 8} {
		b, err := d.Alloc(n)
		if err == nil {
			d.Free(b) // addresses without memory can be had
			continue
		}
		wants(t, err, "huge size", device.ErrOutOfMemory, device.ErrSize)
		if b != (device.Block{}) {
			t.Errorf("failed Alloc(%d) gave %+v", n, b)
		}
	}
	d.Free(alloc(t, d, 1))
}

// distinct: regions compare unequal, work as map keys and do not overlap.
func distinct(t *testing.T, d device.Device) {
	const n = 64
	seen := map[device.Region]bool{}
	var blocks []device.Block
	for i := range n {
		b := alloc(t, d, 1+i*97)
		defer d.Free(b)
		seen[b.Region] = true
		blocks = append(blocks, b)
	}
	if len(seen) != n {
		t.Fatalf("%d blocks have %d regions", n, len(seen))
	}
	needsMemory(t, d)
	for i, b := range blocks {
		write(t, d, b, pattern(b.Len, i))
	}
	for i, b := range blocks {
		same(t, read(t, d, b), pattern(b.Len, i), "a block among others")
	}
}

// hostBytes: what the CPU can reach is as long as the block, in its capacity too.
func hostBytes(t *testing.T, d device.Device) {
	b := alloc(t, d, 1000)
	defer d.Free(b)
	m := device.Bytes(b)
	if m == nil {
		t.Skip("the CPU cannot reach the memory of this device")
	}
	if len(m) != 1000 || cap(m) != 1000 {
		t.Errorf("1000 bytes have length %d and capacity %d", len(m), cap(m))
	}
	copy(m, pattern(1000, 1))
	same(t, read(t, d, b), pattern(1000, 1), "bytes written by the CPU")
	write(t, d, part(b, 10, 20), pattern(20, 2))
	same(t, m[10:30], pattern(20, 2), "bytes written by Copy")
}

// badFree: a block that is not out panics, and the device works on.
func badFree(t *testing.T, d device.Device) {
	b := alloc(t, d, 100)
	other := b
	other.Len--
	mustPanic(t, "Free of a part of a block", func() { d.Free(other) })
	other = b
	other.Off++
	mustPanic(t, "Free of a shifted block", func() { d.Free(other) })
	mustPanic(t, "Free of a foreign block", func() { d.Free(onHost(t, make([]byte, 100))) })
	mustPanic(t, "Free without a region", func() { d.Free(device.Block{Len: 1}) })
	d.Free(b)
	mustPanic(t, "second Free", func() { d.Free(b) })
	d.Free(alloc(t, d, 100))
	mustPanic(t, "late second Free", func() { d.Free(b) })
}

// concurrent: goroutines that share a device do not see each other's bytes.
func concurrent(t *testing.T, d device.Device) {
	b := alloc(t, d, 1)
	memory := device.Bytes(b) != nil
	d.Free(b)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 100 {
				churn(t, d, memory, 1+(i*131)%5000, g*100+i)
			}
		}()
	}
	wg.Wait()
}

// churn runs on goroutines that must not call Fatal.
func churn(t *testing.T, d device.Device, memory bool, n, seed int) {
	b, err := d.Alloc(n)
	if err != nil {
		t.Error(err)
		return
	}
	defer d.Free(b)
	if !memory {
		return
	}
	m, want := device.Bytes(b), pattern(n, seed)
	copy(m, want)
	if string(m) != string(want) {
		t.Errorf("%d bytes were changed by another goroutine", n)
	}
}

// memInfo: what is free is part of the total.
func memInfo(t *testing.T, d device.Device) {
	b := alloc(t, d, 1<<20)
	defer d.Free(b)
	free, total, err := d.MemInfo()
	unavailable(t, err, "the device does not tell")
	if free < 0 || total < free || total < 1<<20 {
		t.Errorf("%d bytes free of %d with %d allocated", free, total, b.Len)
	}
}

// closes: nothing works after Close but Free, and memory stays until then.
func closes(t *testing.T, d device.Device) {
	b := alloc(t, d, 100)
	m := device.Bytes(b)
	copy(m, pattern(100, 1))
	must(t, d.Close())
	_, err := d.Alloc(1)
	wants(t, err, "Alloc after Close", device.ErrClosed)
	wants(t, d.Copy(b, b), "Copy after Close", device.ErrClosed)
	_, _, err = d.MemInfo()
	wants(t, err, "MemInfo after Close", device.ErrClosed)
	_, err = d.NewStream()
	wants(t, err, "NewStream after Close", device.ErrClosed)
	wants(t, d.Close(), "second Close", device.ErrClosed)
	if r, ok := d.(device.Reserver); ok {
		_, err = r.Reserve(1 << 20)
		wants(t, err, "Reserve after Close", device.ErrClosed)
	}
	if m != nil {
		same(t, device.Bytes(b), pattern(100, 1), "memory of a closed device")
	}
	d.Free(b)
}
