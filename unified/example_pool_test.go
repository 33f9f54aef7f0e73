package unified_test

import (
	"context"
	"errors"
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

// A function that is called with a buffer is what a context manager is elsewhere.
func ExampleWith() {
	pool := unified.Default()
	var sum float32
	err := unified.With(pool, []int{1024, 1024}, func(b *unified.Buffer[float32]) error {
		if err := b.Fill(2); err != nil {
			return err
		}
		if _, err := b.Device(); err != nil { // for work of the device
			return err
		}
		m, err := b.Host()
		if err == nil {
			sum = m[0] + m[1]
		}
		return err
	})
	fmt.Println(err, sum, pool.Len())
	pool.Clear()
	fmt.Println(pool.Len())
	// Output:
	// <nil> 4 1
	// 0
}

// Where a budget has no room, AcquireContext waits until others release.
func ExampleAcquireContext() {
	dev, err := slab.OpenConfig(slab.Config{Device: "sim:1MiB", MaxBytes: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	pool := unified.NewPoolOn(nil, dev, unified.PoolConfig{})
	done := make(chan error)
	for range 3 {
		go func() { // two of them would need more than there is
			b, err := unified.AcquireContext[byte](context.Background(), pool, 600_000)
			if err == nil {
				_, err = b.DeviceOverwrite()
				err = errors.Join(err, b.Release())
			}
			done <- err
		}()
	}
	fmt.Println(<-done, <-done, <-done)
	pool.Clear()
	// Output: <nil> <nil> <nil>
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
