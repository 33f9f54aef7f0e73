//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda_test

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/cuda"
	"github.com/bufslab/bufslab/slab"
)

// A pool of GPU memory, filled from page-locked memory by a stream.
func Example() {
	gpu, err := device.Open("cuda:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	locked, _ := gpu.(device.Pinner).Pinned()
	host, _ := locked.Alloc(5)
	defer locked.Free(host)
	copy(device.Bytes(host), "hello")

	pool, _ := slab.Open(gpu, slab.Config{})
	defer pool.Close()
	b, _ := pool.Get(5)
	defer b.Release()

	s, _ := gpu.NewStream()
	defer s.Close()
	_ = s.Copy(b.Block(), host) // enqueued
	_ = s.Sync()                // done

	back := make([]byte, 5)
	fmt.Println(gpu.Copy(device.Host(back), b.Block()), string(back))
	// Output: <nil> hello
}
