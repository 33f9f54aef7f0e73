package sim

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

func TestNewHasANameThatOpens(t *testing.T) {
	if d := opened(t, New(77).Name()).(*Device); d.capacity != 77 {
		t.Errorf("the name of a device of 77 bytes opens one of %d", d.capacity)
	}
}

// A name has the seed in decimal digits.
func TestOpenLate(t *testing.T) {
	d, same := opened(t, "sim:1KiB:late=120").(*Device), New(1024)
	same.Late(120)
	for range 20 {
		if a, b := d.delay(), same.delay(); a != b {
			t.Fatalf("delays of %v and %v", a, b)
		}
	}
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	for name, want := range map[string]error{
		"sim:pinned:pinned": device.ErrUnavailable,
		"sim:late=":         device.ErrUnavailable,
		"sim:late=x":        device.ErrUnavailable,
		"sim:late=-1":       device.ErrUnavailable,
		"sim:late=1:1MiB":   device.ErrUnavailable,
		"sim:late":          device.ErrSize,
		"sim::late=1":       device.ErrSize,
		"sim:fast":          device.ErrSize,
		"sim:fast:pinned":   device.ErrSize,
		"sim:-1":            device.ErrSize,
		"sim:16EiB":         device.ErrSize,
	} {
		d, err := device.Open(name)
		if d != nil {
			t.Errorf("%q opened %s", name, d.Name())
		}
		check.Wraps(t, err, want)
	}
}
