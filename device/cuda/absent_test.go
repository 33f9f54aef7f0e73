//go:build !(cuda && cgo && linux && (amd64 || arm64))

package cuda

import (
	"errors"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Without the tag the scheme is known, and says what to do.
func TestAbsent(t *testing.T) {
	for _, name := range []string{"cuda", "cuda:0", "cuda:0:managed", "cuda:1:pinned"} {
		_, err := device.Open(name)
		if !errors.Is(err, device.ErrUnavailable) || !strings.Contains(err.Error(), "-tags cuda") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
