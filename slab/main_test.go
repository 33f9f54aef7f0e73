package slab

import (
	"flag"
	"log/slog"
	"runtime"
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind. Tests that close a pool with buffers out look at the error, and not at the log.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.memprofile").Value.String() == "" {
		runtime.MemProfileRate = 0 // each collection walks over all places that it has sampled
	}
	slog.SetLogLoggerLevel(slog.LevelError)
	goleak.VerifyTestMain(m)
}
