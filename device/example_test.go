package device_test

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/sim"
)

// A device is opened by name, gives out blocks and takes them back.
func Example() {
	d, err := device.Open("mmap")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	b, err := d.Alloc(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Free(b)
	m := device.Bytes(b)
	copy(m, "outside of the Go heap")
	fmt.Printf("%d bytes: %s\n", b.Len, m[:22])
	// Output: 1000 bytes: outside of the Go heap
}

// Bytes move to a device and back by Copy; the CPU cannot reach them there.
func ExampleDevice() {
	host, _ := device.Open("heap")
	gpu, _ := device.Open("sim:8GiB")
	h, _ := host.Alloc(5)
	g, _ := gpu.Alloc(5)
	copy(device.Bytes(h), "hello")
	fmt.Println(gpu.Copy(g, h), device.Bytes(g) == nil)
	clear(device.Bytes(h))
	fmt.Println(gpu.Copy(h, g), string(device.Bytes(h)))
	// Output:
	// <nil> true
	// <nil> hello
}

// Pinned memory is a device of its own.
func ExamplePinner() {
	d, _ := device.Open("sim:64MiB")
	pinned, err := d.(device.Pinner).Pinned()
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _ := pinned.Alloc(1000)
	fmt.Println(pinned.Name(), len(device.Bytes(b)))
	heap, _ := device.Open("heap:pinned")
	fmt.Println(heap)
	// Output:
	// sim:64MiB:pinned 1000
	// <nil>
}

// A range gets memory behind it piece by piece, and keeps its addresses.
func ExampleReserver() {
	d, _ := device.Open("virtual:64KiB")
	g, err := d.(device.Reserver).Reserve(1 << 30)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	fmt.Println(g.Commit(0, 64<<10))
	fmt.Println(g.Commit(64<<10, 4096))
	// Output:
	// <nil>
	// device: virtual:64KiB of 65536 bytes has 0 left, 4096 asked: out of memory
}

func ExampleOpen() {
	_, err := device.Open("cuda:0")
	fmt.Println(errors.Is(err, device.ErrUnavailable))
	fmt.Println(err)
	// Output:
	// true
	// device: no scheme "cuda" among heap, mmap, sim, virtual; build with CGO_ENABLED=1 and -tags cuda and import github.com/bufslab/bufslab/device/cuda: unavailable
}

func ExampleParseSize() {
	for _, text := range []string{"4096", "64 KiB", "1.5GiB", "8GB", "-1"} {
		n, err := device.ParseSize(text)
		fmt.Println(n, err)
	}
	// Output:
	// 4096 <nil>
	// 65536 <nil>
	// 1610612736 <nil>
	// 8000000000 <nil>
	// 0 device: "-1" is no number of bytes from 0 to 9223372036854775807: invalid size
}
