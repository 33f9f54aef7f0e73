package growpool_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// memory is what all examples draw on.
func memory() *slab.Pool {
	p, err := slab.OpenConfig(slab.Config{})
	if err != nil {
		panic(err)
	}
	return p
}

// A few cells of varying size need one array of coefficients.
func ExampleGet() {
	pool := growpool.New[string](memory(), growpool.Config{})
	for _, cell := range [][2]int{{1000, 100}, {1000, 100}, {500, 100}, {2000, 100}, {1, 200_000}} {
		coeff, err := growpool.Get[float64](pool, "coeff", cell[0], cell[1])
		if err != nil {
			fmt.Println(err)
			return
		}
		coeff.Set(1.5, cell[0]-1, cell[1]-1)
		fmt.Println(coeff.Shape(), len(coeff.Slice()), coeff.At(cell[0]-1, cell[1]-1))
	}
	s := pool.Stats()["coeff"]
	fmt.Printf("%d hits, %d misses, %d grows, %d bytes\n", s.Hits, s.Misses, s.Grows, s.Bytes)
	// Output:
	// [1000 100] 100000 1.5
	// [1000 100] 100000 1.5
	// [500 100] 50000 1.5
	// [2000 100] 200000 1.5
	// [1 200000] 200000 1.5
	// 3 hits, 1 misses, 1 grows, 1600000 bytes
}

// Several goroutines use one key, one after the other.
func ExampleAcquire() {
	pool := growpool.New[string](memory(), growpool.Config{})
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			scratch, err := growpool.Acquire[int64](context.Background(), pool, "scratch", 1000*(n+1))
			if err != nil {
				fmt.Println(err)
				return
			}
			defer scratch.Release()
			for i := range scratch.Slice() {
				scratch.Slice()[i] = int64(n)
			}
		})
	}
	wg.Wait()
	fmt.Println(pool.MemoryUsage().TotalBytes, "bytes")
	// Output: 32000 bytes
}

// A function that is called with a lease is what a context manager is elsewhere.
func ExampleWith() {
	pool := growpool.New[string](memory(), growpool.Config{})
	norm := 0.0
	err := growpool.With(context.Background(), pool, "residual", []int{2, 2}, func(l *growpool.Lease[float64]) error {
		copy(l.Slice(), []float64{1, 2, 3, 4})
		for _, x := range l.Slice() {
			norm += x * x
		}
		return nil
	})
	fmt.Println(err, norm)
	// Output: <nil> 30
}

// Batches on a stream share a key: each has the memory as soon as the one before has enqueued its work.
func ExampleAcquireOn() {
	memory, err := slab.OpenConfig(slab.Config{Device: "sim:1MiB:late=1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()
	pool := growpool.New[string](memory, growpool.Config{})
	defer pool.Close()
	s, _ := memory.Device().NewStream()
	var results [3][4]byte
	for i := range results {
		l, err := growpool.AcquireOn[byte](context.Background(), pool, "batch", s, 4)
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = s.Fill(l.Block(), byte(i))
		_ = s.Copy(device.Host(results[i][:]), l.Block())
		_ = l.Release() // the work is enqueued, not done
	}
	fmt.Println(s.Sync(), results)
	// Output: <nil> [[0 0 0 0] [1 1 1 1] [2 2 2 2]]
}

func ExampleView_Row() {
	pool := growpool.New[string](memory(), growpool.Config{})
	v, err := growpool.Get[int](pool, "table", 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	copy(v.Slice(), []int{1, 2, 3, 4, 5, 6})
	fmt.Println(v.Row(1), v.At(1, 2), v.Shape())
	larger, err := growpool.Get[int](pool, "table", 3, 3)
	fmt.Println(v.Valid(), larger.Valid(), err)
	// Output:
	// [4 5 6] 6 [2 3]
	// false true <nil>
}

func ExampleSteps() {
	grow := growpool.Steps(4)
	for _, bytes := range []int{1000, 1025, 1281, 2000} {
		fmt.Println(grow(0, bytes))
	}
	// Output:
	// 1024
	// 1280
	// 1536
	// 2048
}

// A budget says what all buffers may take together; a cache decides which keys
// keep theirs.
func ExampleConfig() {
	pool := growpool.New[int](memory(), growpool.Config{MaxBytes: 1 << 20, Growth: growpool.Factor(1.5)})
	defer pool.Close()
	for key := range 10_000 {
		if _, err := growpool.Get[byte](pool, key, 1000); err != nil {
			fmt.Println(err)
			return
		}
	}
	u := pool.MemoryUsage()
	fmt.Println(u.PeakBytes <= 1<<20, pool.Totals().Misses)
	// Output: true 10000
}
