package devicetest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants fails unless err wraps one of the sentinels.
func wants(t *testing.T, err error, what string, sentinels ...error) {
	t.Helper()
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return
		}
	}
	t.Errorf("%s: error is %v, not one of %v", what, err, sentinels)
}

func alloc(t *testing.T, d device.Device, size int) device.Block {
	t.Helper()
	b, err := d.Alloc(size)
	if err != nil {
		t.Fatalf("Alloc of %d bytes: %v", size, err)
	}
	return b
}

// onHost returns host memory to copy from and to, with the given contents. It
// is the heap's, which every device has to be able to reach.
func onHost(t *testing.T, contents []byte) device.Block {
	t.Helper()
	heap, err := device.Open("heap")
	must(t, err)
	b := alloc(t, heap, len(contents))
	copy(device.Bytes(b), contents)
	return b
}

// needsMemory skips a check on a device that has no contents.
func needsMemory(t *testing.T, d device.Device) {
	t.Helper()
	b := alloc(t, d, 1)
	defer d.Free(b)
	if err := d.Copy(b, onHost(t, []byte{1})); errors.Is(err, device.ErrUnavailable) {
		t.Skipf("there are no contents to look at: %v", err)
	}
}

func write(t *testing.T, d device.Device, b device.Block, contents []byte) {
	t.Helper()
	must(t, d.Copy(b, onHost(t, contents)))
}

func read(t *testing.T, d device.Device, b device.Block) []byte {
	t.Helper()
	h := onHost(t, make([]byte, b.Len))
	must(t, d.Copy(h, b))
	return device.Bytes(h)
}

func same(t *testing.T, got, want []byte, what string) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: byte %d of %d is %#x, not %#x", what, i, len(want), got[i], want[i])
		}
	}
	t.Fatalf("%s: %d bytes, not %d", what, len(got), len(want))
}

// pattern returns n bytes that differ from those of another seed nearly
// everywhere and repeat at no power of two.
func pattern(n, seed int) []byte {
	m := make([]byte, n)
	for i := range m {
		m[i] = byte(i%251 + i/251 + seed*37)
	}
	return m
}

// part returns n bytes of b from off.
func part(b device.Block, off, n int) device.Block {
	return device.Block{Region: b.Region, Off: b.Off + off, Len: n}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}
