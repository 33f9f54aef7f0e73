package compat

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/slab"
	"gonum.org/v1/gonum/mat"
)

// floats returns n numbers in memory of a pool, and what to give back.
func floats(t *testing.T, p *slab.Pool, n int) ([]float64, []byte) {
	t.Helper()
	b, err := p.GetBytes(8 * n)
	if err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), n), b
}

// Matrices in pooled memory, which has old contents, give what those of make give.
func TestGonumMultiplies(t *testing.T) {
	const n, rounds = 123, 20
	for _, line := range lines {
		p := slab.MustOpen(line)
		r := rand.New(rand.NewPCG(1, 2))
		for range rounds {
			var pooled, made [3]*mat.Dense
			var out [3][]byte
			for i := range pooled {
				var m []float64
				m, out[i] = floats(t, p, n*n)
				for j := range m {
					m[j] = r.NormFloat64()
				}
				pooled[i], made[i] = mat.NewDense(n, n, m), mat.NewDense(n, n, append([]float64(nil), m...))
			}
			for _, m := range [][3]*mat.Dense{pooled, made} {
				m[2].Mul(m[0], m[1])
				m[2].Add(m[2], m[0].T())
			}
			if !mat.Equal(pooled[2], made[2]) {
				t.Fatal(line, "the products differ")
			}
			for _, b := range out {
				if err := p.Put(b); err != nil {
					t.Fatal(line, err)
				}
			}
		}
		if s := p.Stats(); s.UpstreamAllocs > 20 {
			t.Errorf("%s: nothing was reused: %+v", line, s)
		}
		even(t, p)
	}
}
