package unified_test

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/unified"
)

// Read on the host, modify on the device, read on the host.
func Example_readModifyWrite() {
	d, _ := device.Open("sim")
	b, _ := unified.New[byte](d, 4)
	defer b.Free()
	input := []byte{1, 2, 3, 4}
	_ = b.CopyFrom(input)
	fmt.Println(b.State())
	block, _ := b.DeviceMut()
	fmt.Println(b.State())
	kernel(d, block)
	result, _ := b.ToSlice()
	fmt.Println(b.State(), result)
	// Output:
	// HostDirty
	// DeviceDirty
	// Synchronized [2 3 4 5]
}

// doubleBuffered adds up batches on a device, through as many buffers as told,
// and returns the sum and the time by the device's clock. A batch takes the host
// half a millisecond to make; its copy and its kernel take one each.
func doubleBuffered(batches, buffers int) (sum int, took time.Duration) {
	const n = 1_000_000
	d := sim.New(1 << 30)
	d.Costs(sim.Costs{ToDevice: n * 1000, ToHost: n * 1000})
	copies, _ := d.NewStream()
	kernels, _ := d.NewStream()
	all := make([]*unified.Buffer[byte], buffers)
	for i := range all {
		all[i], _ = unified.NewPinned[byte](d, n)
	}
	for i := range batches {
		b := all[i%buffers]
		m, _ := b.HostOverwrite()         // waits for the copy that still reads it
		m[0] = byte(i)                    // the batch
		d.Advance(500 * time.Microsecond) // which takes a while
		_ = b.SyncToDeviceOn(copies)      // after the kernel that still reads the device side
		block, _ := b.DeviceOn(kernels)   // after the copy
		_ = kernels.(*sim.Stream).Launch(time.Millisecond, func(args ...[]byte) { sum += int(args[0][0]) }, block)
		_ = b.UsedOn(kernels) // what comes to this stream next is not this buffer's
	}
	if err := errors.Join(kernels.Sync(), copies.Close(), kernels.Close()); err != nil {
		fmt.Println(err)
	}
	return sum, d.Clock()
}

// With two buffers the host makes a batch, the device copies one and computes
// another, all at a time; the program only says what it wants.
func Example_doubleBuffering() {
	for _, buffers := range []int{1, 2} {
		sum, took := doubleBuffered(10, buffers)
		fmt.Printf("%d buffers: sum %d after %v\n", buffers, sum, took.Round(100*time.Microsecond))
	}
	// Output:
	// 1 buffers: sum 45 after 20.5ms
	// 2 buffers: sum 45 after 11.5ms
}

// Batches of one shape share one buffer of a pool.
func Example_batchProcessing() {
	d, _ := device.Open("sim")
	pool := unified.NewPool(d, unified.PoolConfig{})
	var results [][]byte
	for _, batch := range [][]byte{{1, 2}, {3, 4}, {5, 6}} {
		err := func() error {
			b, err := unified.Acquire[byte](pool, len(batch))
			if err != nil {
				return err
			}
			defer b.Release()
			if err := b.CopyFrom(batch); err != nil {
				return err
			}
			block, err := b.DeviceMut()
			if err != nil {
				return err
			}
			kernel(d, block)
			result, err := b.ToSlice()
			results = append(results, result)
			return err
		}()
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(results)
	fmt.Printf("%+v\n", pool.Stats())
	// Output:
	// [[2 3] [4 5] [6 7]]
	// {PoolSize:1 TotalAcquired:3 TotalReleased:3 CacheHits:2 CacheMisses:1}
}

// A request names a buffer; it does not carry its contents.
type request struct {
	buffer    string
	from, end int
}

// registry is where the names are known.
type registry struct {
	sync.Mutex
	buffers map[string]*unified.Buffer[byte]
}

func (r *registry) share(d device.Device, data []byte) (id string, err error) {
	b, err := unified.New[byte](d, len(data))
	if err != nil {
		return "", err
	}
	r.Lock()
	defer r.Unlock()
	id = fmt.Sprintf("buffer-%d", len(r.buffers))
	r.buffers[id] = b
	return id, b.CopyFrom(data)
}

// part returns the part of a buffer that a request is about.
func (r *registry) part(q request) (*unified.Buffer[byte], error) {
	r.Lock()
	defer r.Unlock()
	return r.buffers[q.buffer].View(q.from, q.end)
}

// Large data stays where it is; goroutines send each other its name and the
// part that they mean. Only that part is copied.
func Example_sharingByID() {
	d := sim.New(1 << 20)
	shared := registry{buffers: map[string]*unified.Buffer[byte]{}}
	id, _ := shared.share(d, make([]byte, 100_000))
	requests := make(chan request)
	var worker sync.WaitGroup
	worker.Go(func() {
		for q := range requests {
			b, _ := shared.part(q)
			block, _ := b.DeviceMut()
			kernel(d, block)
		}
	})
	requests <- request{buffer: id, from: 10, end: 20}
	requests <- request{buffer: id, from: 15, end: 25}
	close(requests)
	worker.Wait()
	b, _ := shared.part(request{buffer: id, from: 8, end: 27})
	m, _ := b.Host()
	fmt.Println(m)
	// Output: [0 0 1 1 1 1 1 2 2 2 2 2 1 1 1 1 1 0 0]
}
