package align

import "testing"

func TestUpAndDownEncloseANumber(t *testing.T) {
	for to := 1; to <= 64; to *= 2 {
		for n := range 200 {
			up, down := Up(n, to), Down(n, to)
			if up%to != 0 || down%to != 0 || up < n || up-n >= to || down > n || n-down >= to {
				t.Fatalf("%d lies between %d and %d, multiples of %d", n, down, up, to)
			}
		}
	}
}
