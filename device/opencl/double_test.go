package opencl

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Errors come from functions that are swapped for ones that fail: a real driver cannot
// be made to, and one that promises more memory than there is must not be.

// doubles lists the hardware anew, with some functions changed. It has
// contexts of its own, so nothing of it reaches other tests.
func doubles(t *testing.T, change func(*api)) []*hardware {
	t.Helper()
	found, err := system()
	if err != nil {
		t.Skipf("the device is not there: %v", err)
	}
	a := *found[0].api
	change(&a)
	again, err := list(&a)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func unchanged(*api) {}

// formNames are those that a name can end in, and pinned.
func formNames() (list []string) {
	for _, f := range append(forms, pinned) {
		list = append(list, f.name)
	}
	return list
}

// opened opens a form on the first of doubles, or skips where that has none.
func opened(t *testing.T, form string, change func(*api)) *Device {
	t.Helper()
	rest := "0"
	if form != "" && form != pinned.name {
		rest += ":" + form
	}
	d, err := openOn(doubles(t, change), rest)
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the form is not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if form == pinned.name {
		return d.pinned
	}
	return d
}

func mustAlloc(t *testing.T, d device.Device, size int) device.Block {
	t.Helper()
	b, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustStream(t *testing.T, d device.Device) *Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(*Stream)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error is %v, want one of %v", err, want)
	}
}

// pattern is n bytes that differ from their neighbours.
func pattern(n, seed int) []byte {
	m := make([]byte, n)
	for i := range m {
		m[i] = byte(i*7 + i/256 + seed)
	}
	return m
}

func put(t *testing.T, d device.Device, b device.Block, contents []byte) {
	t.Helper()
	must(t, d.Copy(b, device.Host(contents)))
}

func holds(t *testing.T, d device.Device, b device.Block, want []byte) {
	t.Helper()
	got := make([]byte, b.Len)
	must(t, d.Copy(device.Host(got), b))
	if !bytes.Equal(got, want) {
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("byte %d of %d is %d, want %d", i, len(got), got[i], want[i])
			}
		}
	}
}

func part(b device.Block, off, n int) device.Block {
	return device.Block{Region: b.Region, Off: b.Off + off, Len: n}
}
