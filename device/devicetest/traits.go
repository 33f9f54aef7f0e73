package devicetest

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// traits: grain and alignment are powers of two that do not change, and
// regions are whole grains.
func traits(t *testing.T, d device.Device) {
	says := device.TraitsOf(d)
	for what, n := range map[string]int{"regions are multiples of": says.Grain,
		"blocks have to begin at multiples of": says.Align} {
		if n < 0 || n&(n-1) != 0 {
			t.Errorf("%s %d bytes, no power of two", what, n)
		}
	}
	if again := device.TraitsOf(d); again != says {
		t.Errorf("traits are %+v, and then %+v", says, again)
	}
	grain := max(1, says.Grain)
	for _, n := range []int{1, 100, 4096, 100_001} {
		b := alloc(t, d, n)
		if size := b.Region.Size(); size%grain != 0 {
			t.Errorf("%d bytes have a region of %d, which is not a multiple of %d", n, size, grain)
		}
		d.Free(b)
	}
}
