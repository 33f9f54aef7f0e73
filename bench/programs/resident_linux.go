package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// peakResident returns bytes. What getrusage says would also be that of the parent, whose
// memory a process has until it executes its program.
func peakResident(syscall.Rusage) (float64, error) { return status("VmHWM") }

func residentNow() (float64, error) { return status("VmRSS") }

// status returns the bytes that a line of /proc/self/status tells.
func status(name string) (float64, error) {
	const file = "/proc/self/status"
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, name+": %d kB", &kib); n == 1 {
			return float64(kib << 10), nil
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, name)
}
