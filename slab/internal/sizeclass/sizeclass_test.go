package sizeclass

import (
	mathbits "math/bits"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

func sizesUpTo46(f func(size int)) {
	for n := range 5000 {
		f(n)
	}
	for e := range 47 {
		for o := -70; o <= 70; o++ {
			if n := 1<<e + o; n >= 0 && uint64(n) <= Max {
				f(n)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		if n := r.Uint64N(1 << (1 + r.IntN(46))); n <= Max {
			f(int(n))
		}
	}
}

func TestGridKeepsItsWord(t *testing.T) {
	for _, steps := range []int{1, 2, 4, 8, 16} {
		for _, align := range []int{0, 1, 8, 16, 64, 512} {
			g := NewGrid(steps, align)
			sizesUpTo46(func(n int) {
				i := g.Index(n)
				size := g.Size(i)
				unit := align
				if align == 0 {
					unit = 64
					if n <= 64 {
						unit = 16
					}
				}
				switch {
				case size < n, i > 0 && g.Size(i-1) >= n && n > 0:
					t.Fatalf("Grid(%d,%d): %d is in class %d of %d bytes", steps, align, n, i, size)
				case size%unit != 0:
					t.Fatalf("Grid(%d,%d): class %d has %d bytes", steps, align, i, size)
				case size-n >= max((n+steps-1)/steps, unit) && n > 0:
					t.Fatalf("Grid(%d,%d): %d wastes %d", steps, align, n, size-n)
				case n >= unit && n&(n-1) == 0 && size != n:
					t.Fatalf("Grid(%d,%d): %d is not exact but %d", steps, align, n, size)
				case g.Index(size) != i:
					t.Fatalf("Grid(%d,%d): class %d holds class %d", steps, align, g.Index(size), i)
				}
			})
		}
	}
}

// Each class has the sizes up to its own, and from one power of two to the next there are as many classes as steps.
func TestEachClassIsOneOfTheSteps(t *testing.T) {
	for _, steps := range []int{1, 2, 4, 8, 16} {
		for _, align := range []int{0, 1, 8, 16, 64, 512} {
			g := NewGrid(steps, align)
			for i := range g.Index(int(Max)) + 1 {
				if size := g.Size(i); g.Index(size) != i || i > 0 && g.Index(g.Size(i-1)+1) != i {
					t.Fatalf("Grid(%d,%d): %d bytes of class %d are in class %d", steps, align, size, i, g.Index(size))
				}
			}
			for n := max(align, 64) * steps; uint64(2*n) <= Max; n *= 2 {
				if k := g.Index(2*n) - g.Index(n); k != steps {
					t.Fatalf("Grid(%d,%d): %d classes from %d to %d", steps, align, k, n, 2*n)
				}
			}
		}
	}
}

func TestClassesHaveAnEnd(t *testing.T) {
	for _, c := range []interface {
		Index(int) int
		Size(int) int
	}{NewGrid(4, 0), NewGrid(4, 16), Bitlog(4)} {
		for _, n := range []int{-1, -maxInt - 1, maxInt, int(Max) + 1} {
			if i := c.Index(n); i != -1 {
				t.Errorf("%d is in class %d", n, i)
			}
		}
		if n := c.Size(c.Index(int(Max))); n < int(Max) {
			t.Errorf("the largest class has %d bytes", n)
		}
	}
}

// pyopencl's own test of its bins, as it was meant.
func TestBitlogBinsHoldTheirSizes(t *testing.T) {
	for bits := range 17 {
		c := Bitlog(bits)
		sizesUpTo46(func(n int) {
			size := c.Size(c.Index(n))
			if size < n || uint64(size) <= Max && c.Index(size) != c.Index(n) || n > 0 && float64(size) >= float64(n)*(1+1/float64(int(1)<<bits)) {
				t.Fatalf("%d bits: %d gets %d", bits, n, size)
			}
		})
	}
	for _, v := range [][2]int{{1000, 1023}, {1 << 30, 1140850687}, {0, 1}, {1, 1}} {
		c := Bitlog(4)
		if size := c.Size(c.Index(v[0])); size != v[1] {
			t.Errorf("%d gets %d, not %d", v[0], size, v[1])
		}
	}
}

// pyopencl's formula, from its bin_number and alloc_size, with shifts to the left by a
// negative number.
func TestBitlogIsPyopenclsFormula(t *testing.T) {
	shift := func(n uint64, k int) uint64 {
		if k < 0 {
			return n >> -k
		}
		return n << k
	}
	for _, bits := range []int{0, 1, 4, 16} {
		c := Bitlog(bits)
		sizesUpTo46(func(n int) {
			if n == 0 {
				return
			}
			exponent := mathbits.Len64(uint64(n)) - 1
			mantissa := shift(uint64(n), bits-exponent) &^ (1 << bits)
			bin := exponent<<bits | int(mantissa)
			ones := max(shift(1, exponent-bits), 1) - 1
			size := int(shift(1<<bits|mantissa, exponent-bits) | ones)
			if i := c.Index(n); i != bin || c.Size(i) != size {
				t.Fatalf("%d bits, %d bytes: bin %d of %d bytes, not %d of %d", bits, n, i, c.Size(i), bin, size)
			}
		})
	}
}

func TestBitlogGoldenVectors(t *testing.T) {
	for _, row := range check.SharedRows(t, "golden/bitlog-vectors.csv.gz") {
		var v [4]int
		var err error
		for i := range v {
			if v[i], err = strconv.Atoi(row[i]); err != nil {
				break
			}
		}
		if strconv.IntSize == 32 && (err != nil || v[1] > 1<<30) { // no such size there
			continue
		}
		c := Bitlog(v[0])
		if i := c.Index(v[1]); i != v[2] || c.Size(i) != v[3] {
			t.Errorf("%d bits, %d bytes: bin %d of %d bytes, not %d of %d", v[0], v[1], i, c.Size(i), v[2], v[3])
		}
	}
}
