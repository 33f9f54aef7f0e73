package opencl_test

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/opencl"
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

// A pool in a context that the program has from another binding, of buffers that kernels
// only read. Here the context is that of another device; where there is no driver, the rest
// of the program runs on a simulated one.
func ExampleNew() {
	var o opencl.Options
	if d, err := device.Open("opencl:0"); err == nil {
		defer d.Close()
		_, id, context := d.(*opencl.Device).Handles()
		o = opencl.Options{Context: context, Device: id, Flags: opencl.ReadOnly}
	}
	d, err := opencl.New(o)
	if errors.Is(err, device.ErrUnavailable) {
		d, err = device.Open("sim")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	pool, err := slab.Open(d, slab.Config{Strategy: "bitlog"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	b, _ := pool.Get(5)
	defer b.Release()
	back := make([]byte, b.Len())
	fmt.Println(d.Copy(b.Block(), device.Host([]byte("given"))))
	fmt.Println(d.Copy(device.Host(back), b.Block()))
	fmt.Printf("%s\n", back)
	_, err = opencl.New(opencl.Options{Context: 1, Flags: opencl.ReadOnly | opencl.WriteOnly})
	var refused *opencl.OptionsError
	fmt.Println(errors.As(err, &refused))
	// Output:
	// <nil>
	// <nil>
	// given
	// true
}
