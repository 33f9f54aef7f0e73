package opencl_test

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/opencl"
	_ "github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/slab"
)

// A pool on the first OpenCL device, or where there is none on a simulated
// one: the rest of the program is the same.
func Example() {
	d, err := device.Open("opencl:0")
	if errors.Is(err, device.ErrUnavailable) {
		d, err = device.Open("sim")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	pool, err := slab.Open(d, slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	b, _ := pool.Get(11)
	defer b.Release()
	back := make([]byte, b.Len())
	fmt.Println(d.Copy(b.Block(), device.Host([]byte("to and from"))))
	fmt.Println(d.Copy(device.Host(back), b.Block()))
	fmt.Printf("%s\n", back)
	// Output:
	// <nil>
	// <nil>
	// to and from
}
