package growpool

import (
	"math"
	"slices"
	"testing"
)

// A shape has its dimensions, in their order, and at most as many bytes as can be counted.
func TestShapesHaveTheirDimensions(t *testing.T) {
	const most = math.MaxInt
	for _, c := range []struct {
		shape []int
		size  uintptr
		n     int // elements, -1 for no shape
	}{
		{[]int{5}, 8, 5}, {[]int{5, 7}, 8, 35}, {[]int{7, 5}, 1, 35}, {[]int{1, 1}, 1, 1}, {[]int{2, 3, 4}, 8, 24}, {[]int{4, 3, 2, 1}, 8, 24},
		{[]int{most}, 1, most}, {[]int{most / 8}, 8, most / 8}, {[]int{most/8 + 1}, 8, -1}, {[]int{most/8 + 1}, 1, most/8 + 1},
		{[]int{2, most / 2}, 1, most - 1}, {[]int{most / 2, 2}, 1, most - 1}, {[]int{2, most/2 + 1}, 1, -1}, {[]int{most/2 + 1, 2}, 1, -1},
		{[]int{0, most, most}, 8, 0}, {[]int{most, most, 0}, 8, 0}, {[]int{0, -1}, 8, -1}, {nil, 8, -1},
	} {
		d, ok := dimsOf(c.shape, c.size)
		if ok != (c.n >= 0) || d.n != max(0, c.n) {
			t.Errorf("%v of %d bytes: %d elements, %t", c.shape, c.size, d.n, ok)
		}
		if c.n < 1 {
			continue
		}
		if v := newView[byte](newEntry("k", 1), nil, d, c.shape); !slices.Equal(v.Shape(), c.shape) || v.rank() != len(c.shape) {
			t.Errorf("%v has the shape %v", c.shape, v.Shape())
		} else {
			for k, n := range c.shape {
				if v.dim(k) != n {
					t.Errorf("dimension %d of %v is %d", k, c.shape, v.dim(k))
				}
			}
		}
	}
}
