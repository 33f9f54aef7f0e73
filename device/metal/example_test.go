package metal_test

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/metal"
	_ "github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/unified"
)

// An array on a Mac's GPU, or where there is none on a simulated one: the rest of the program
// is the same. On Apple silicon Device copies nothing, as both sides are the same bytes.
func Example() {
	d, err := device.Open("metal:0")
	if errors.Is(err, device.ErrUnavailable) {
		d, err = device.Open("sim")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	b, err := unified.New[float32](d, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Free()

	m, _ := b.HostMut()
	m[0] = 42
	block, err := b.Device() // for a kernel
	fmt.Println(block.Len, err, b.State())
	// Output: 4000 <nil> Synchronized
}
