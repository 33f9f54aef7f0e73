package opencl_test

import (
	"log/slog"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/devicetest"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	_ "github.com/bufslab/bufslab/device/opencl"
	"github.com/bufslab/bufslab/fuzz"
)

// The pools of these tests on deferred memory would each log that they are.
func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

// names are all forms, one of them twice.
var names = []string{
	"opencl", "opencl:0", "opencl:0:deferred", "opencl:0:svm", "opencl:0:svm-fine", "opencl:0:pinned", "opencl:0:svm:pinned",
}

func TestConformance(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) { devicetest.Run(t, devcheck.Opener(t, name)) })
	}
}

func TestModel(t *testing.T) {
	if keep, err := device.Open("opencl"); err == nil {
		defer keep.Close() // a context for all programs, as each would take its time to make one
	}
	for _, name := range names[1:] {
		t.Run(name, func(t *testing.T) { fuzz.CheckDevice(t, devcheck.Opener(t, name)) })
	}
}
