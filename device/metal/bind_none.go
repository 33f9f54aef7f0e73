//go:build !((darwin || (linux && !android)) && (amd64 || arm64))

package metal

import (
	"fmt"
	"runtime"

	"github.com/bufslab/bufslab/device"
)

func load() (*api, error) {
	return nil, fmt.Errorf("metal: there is Metal on macOS only, and this was built for %s on %s: %w",
		runtime.GOOS, runtime.GOARCH, device.ErrUnavailable)
}
