//go:build !(cuda && cgo && linux && (amd64 || arm64))

package cuda_test

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/cuda"
	_ "github.com/bufslab/bufslab/device/sim"
)

// Without the tag a program goes on with something else.
func Example() {
	d, err := device.Open("cuda:0")
	if errors.Is(err, device.ErrUnavailable) {
		d, err = device.Open("sim:8GiB")
	}
	fmt.Println(d.Name(), err)
	// Output: sim:8GiB <nil>
}
