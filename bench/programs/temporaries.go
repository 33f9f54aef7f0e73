package main

import "errors"

// temporaries computes x*y + x, elementwise, on matrices of 40 to 300 rows and columns. Each
// step has a result of its own, as expressions of arrays have.
func temporaries(j *job) error {
	return j.each(2, func(c *client) error {
		n := (40 + c.IntN(260)) * (40 + c.IntN(260))
		x, err := j.filled(n, func(i int) float64 { return float64(i) })
		if err != nil {
			return err
		}
		y, err := j.filled(n, func(int) float64 { return 2 })
		if err != nil {
			return err
		}
		product, err := j.filled(n, func(i int) float64 { return x.values[i] * y.values[i] })
		if err != nil {
			return err
		}
		if err := j.putFloats(y); err != nil {
			return err
		}
		total, err := j.filled(n, func(i int) float64 { return product.values[i] + x.values[i] })
		if err != nil {
			return err
		}
		return errors.Join(tripled(total.values), j.putFloats(product), j.putFloats(x), j.putFloats(total))
	})
}

func (j *job) filled(n int, f func(i int) float64) (vector, error) {
	v, err := j.floats(n)
	for i := range v.values {
		v.values[i] = f(i)
	}
	return v, err
}

// tripled says whether v is what x*2 + x has to be.
func tripled(v []float64) error {
	for i, got := range v {
		if want := 3 * float64(i); got != want {
			return wrong(got, want)
		}
	}
	return nil
}
