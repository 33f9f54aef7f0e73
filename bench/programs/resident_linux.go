package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// peakResident returns bytes. What getrusage says would also be that of the parent, whose
// memory a process has until it executes its program.
func peakResident(syscall.Rusage) (float64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return float64(kib << 10), nil
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}
