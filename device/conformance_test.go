package device_test

import (
	"testing"

	"github.com/bufslab/bufslab/device/devicetest"
	"github.com/bufslab/bufslab/device/internal/devcheck"
)

func TestConformance(t *testing.T) {
	for _, name := range []string{
		"heap", "mmap", "mmap:fixed", "mmap:huge", "mmap:small", "virtual", "virtual:fixed,64MiB", "virtual:64MiB", "virtual:1GiB,fixed",
	} {
		t.Run(name, func(t *testing.T) { devicetest.Run(t, devcheck.Opener(t, name)) })
	}
}
