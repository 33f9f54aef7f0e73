package growpools

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// Rapid prints what a failing program has drawn by %#v: addresses of functions and bare numbers would say nothing.
func TestDrawsAreReadable(t *testing.T) {
	if got := fmt.Sprintf("%#v, %#v", kindOf[float64](), upstreamtest.TooShort); got != "8 bytes, too short" {
		t.Error(got)
	}
}
