//go:build unix && !linux

package main

import (
	"runtime"
	"syscall"
)

// peakResident returns bytes. Only darwin's getrusage has these.
func peakResident(r syscall.Rusage) (float64, error) {
	if runtime.GOOS == "darwin" {
		return float64(r.Maxrss), nil
	}
	return float64(r.Maxrss) * 1024, nil
}
