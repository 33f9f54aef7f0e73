//go:build !(cuda && cgo && linux && (amd64 || arm64))

package cuda

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

func init() { device.Register("cuda", open) }

func open(rest string) (device.Device, error) {
	return nil, fmt.Errorf("cuda: this program was built without CUDA; build it with -tags cuda and CGO_ENABLED=1 on linux: %w", device.ErrUnavailable)
}
