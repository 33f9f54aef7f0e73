package poison

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestUnlikeFindsTheFirstByte(t *testing.T) {
	for _, n := range []int{0, 1, 15, 64, 100, 5000} {
		m := make([]byte, n)
		device.Fill(m, Freed)
		if i := Unlike(m, Freed); i != -1 {
			t.Errorf("byte %d of %d is %#x", i, n, m[i])
		}
		for i := n - 1; i >= 0; i -= 7 {
			m[i]++
			if at := Unlike(m, Freed); at != i {
				t.Errorf("found %d of %d, want %d", at, n, i)
			}
		}
	}
}
