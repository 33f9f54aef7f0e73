package slab

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind. Tests that close a pool with buffers out look at the error, and not at the log.
func TestMain(m *testing.M) {
	slog.SetLogLoggerLevel(slog.LevelError)
	goleak.VerifyTestMain(m)
}
