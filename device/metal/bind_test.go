//go:build (darwin || (linux && !android)) && (amd64 || arm64)

package metal

import (
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A library that lacks a function is refused, before anything is called.
func TestBindSaysWhatIsMissing(t *testing.T) {
	err := new(api).bind(nil)
	if check.Wraps(t, err, device.ErrUnavailable); err == nil || !strings.Contains(err.Error(), "metal: no function ") {
		t.Error(err)
	}
}
