//go:build linux || windows

package device

import "testing"

// What the system has free is a figure in bytes: a machine that runs these tests has 16 MiB.
func TestMemInfoIsInBytes(t *testing.T) {
	d, err := Open("heap")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if free, total, err := d.MemInfo(); err != nil || free < 16<<20 || free > total {
		t.Errorf("%d of %d bytes are free, %v", free, total, err)
	}
}
