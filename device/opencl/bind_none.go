//go:build !((darwin || (linux && !android)) && (amd64 || arm64))

package opencl

import (
	"fmt"
	"runtime"

	"github.com/bufslab/bufslab/device"
)

func libraries() []string { return nil }

func load([]string) (*api, error) {
	return nil, fmt.Errorf("opencl: built for %s on %s, and only linux and darwin on amd64 and arm64 can load libOpenCL: %w",
		runtime.GOOS, runtime.GOARCH, device.ErrUnavailable)
}
