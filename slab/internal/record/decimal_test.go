package record

import (
	"math"
	"strconv"
	"testing"
)

// appendDecimal writes what strconv does, about every power of two and of ten.
func TestAppendDecimal(t *testing.T) {
	numbers := []uint64{0, math.MaxUint64}
	for _, base := range []uint64{2, 10} {
		for n := uint64(1); n < math.MaxUint64/base; n *= base {
			numbers = append(numbers, n-1, n, n+1, n*base-1, 7*(n/9))
		}
	}
	for _, n := range numbers {
		got := string(appendDecimal(append(make([]byte, 0, 1+maxDigits), 'x'), n))
		if want := "x" + strconv.FormatUint(n, 10); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}
