//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/bufslab/bufslab/device/devicetest"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/fuzz"
)

func TestConformance(t *testing.T) {
	for _, name := range append([]string{"cuda", "cuda:0:async:pinned"}, names...) {
		t.Run(name, func(t *testing.T) {
			watch(t)
			devicetest.Run(t, devcheck.Opener(t, name))
		})
	}
}

func TestModel(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			watch(t)
			fuzz.CheckDevice(t, devcheck.Opener(t, name))
		})
	}
}
