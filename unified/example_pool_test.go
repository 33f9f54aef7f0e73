package unified_test

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// A released buffer serves the next request of its kind.
func ExampleAcquire() {
	d, _ := device.Open("sim")
	pool := unified.NewPool(d, unified.PoolConfig{})
	a, err := unified.Acquire[float32](pool, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = a.Fill(1)
	fmt.Println(a.Release())
	b, _ := unified.Acquire[float32](pool, 1000) // the same memory
	m, _ := b.Host()
	fmt.Println(m[0], pool.Stats().CacheHits) // which is not cleared
	fmt.Println(a.Release())
	// Output:
	// <nil>
	// 1 1
	// unified: Buffer freed or released already (slab: PooledBuffer released already)
}

// withBuffer lends f a buffer and takes it back whatever happens.
func withBuffer(p *unified.Pool, f func(*unified.Buffer[float32]) error, shape ...int) error {
	b, err := unified.Acquire[float32](p, shape...)
	if err != nil {
		return err
	}
	defer b.Release()
	return f(b)
}

// A function with a deferred Release is what a context manager is elsewhere.
func ExampleBuffer_Release() {
	pool := unified.Default()
	err := withBuffer(pool, func(b *unified.Buffer[float32]) error {
		if err := b.Fill(2); err != nil {
			return err
		}
		_, err := b.Device()
		return err
	}, 1024, 1024)
	fmt.Println(err, pool.Len())
	pool.Clear()
	fmt.Println(pool.Len())
	// Output:
	// <nil> 1
	// 0
}

// How often the pool has spared an allocation.
func ExamplePool_Stats() {
	d, _ := device.Open("sim")
	pool := unified.NewPool(d, unified.PoolConfig{})
	for range 100 {
		b, _ := unified.Acquire[float32](pool, 1000)
		_ = b.Release()
	}
	s := pool.Stats()
	fmt.Println("hits:", s.CacheHits)
	fmt.Println("misses:", s.CacheMisses)
	fmt.Printf("hit rate: %.1f%%\n", 100*float64(s.CacheHits)/float64(s.TotalAcquired))
	// Output:
	// hits: 99
	// misses: 1
	// hit rate: 99.0%
}

// When memory is tight, what is kept can go.
func ExamplePool_Clear() {
	d, _ := device.Open("sim")
	pool := unified.NewPool(d, unified.PoolConfig{})
	b, _ := unified.Acquire[float64](pool, 1000)
	_ = b.Release()
	fmt.Println(pool.Len(), pool.TotalBytes())
	pool.Clear()
	fmt.Println(pool.Len(), pool.TotalBytes())
	// Output:
	// 1 8000
	// 0 0
}

// Arrays on slab pools of one's own: their strategy, their budget, their statistics.
func ExampleNewPoolOn() {
	d, _ := device.Open("sim")
	dev, err := slab.Open(d, slab.Config{Strategy: "exact", MaxBytes: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	pool := unified.NewPoolOn(nil, dev, unified.PoolConfig{})
	b, _ := unified.Acquire[float32](pool, 200, 1000) // of the budget
	_, err = b.DeviceOverwrite()
	fmt.Println(err, dev.Stats().ActiveBytes)
	_ = b.Release()
	fmt.Println(pool.Len(), dev.Stats().ActiveBytes) // kept for the next of its kind,
	other, _ := dev.Get(1_000_000)                   // unless there is no room
	fmt.Println(pool.Len(), dev.Stats().ActiveBytes)
	_ = other.Release()
	// Output:
	// <nil> 800000
	// 1 800000
	// 0 1000000
}
