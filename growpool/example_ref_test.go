package growpool_test

import (
	"context"
	"fmt"

	"github.com/bufslab/bufslab/growpool"
)

// A message has a reference instead of the array; the goroutine that gets it opens it, and releases what
// it has opened.
func ExampleLease_Ref() {
	pool := growpool.New[string](memory(), growpool.Config{})
	defer pool.Close()
	type job struct {
		Rows growpool.Ref[float64]
		From int
	}
	jobs, sums := make(chan job), make(chan float64)
	go func() {
		for j := range jobs {
			l, err := j.Rows.Get()
			if err != nil {
				fmt.Println(err) // the sender has released it
				continue
			}
			sum := 0.0
			for _, x := range l.Row(j.From) {
				sum += x
			}
			l.Release()
			sums <- sum
		}
	}()
	l, _ := growpool.Acquire[float64](context.Background(), pool, "coeff", 2, 1000)
	for i := range l.Slice() {
		l.Slice()[i] = float64(i / 1000)
	}
	jobs <- job{l.Ref(), 1}
	fmt.Println(<-sums)
	r := l.Ref()
	l.Release()
	close(jobs)
	_, err := r.Get()
	fmt.Println(err)
	// Output:
	// 1000
	// growpool: Lease released already (slab: PooledBuffer released already)
}
