//go:build unix

package main

import (
	"os"
	"syscall"
)

func usageNow() (u usage, err error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return u, os.NewSyscallError("getrusage", err)
	}
	u.processor = float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
	u.faults = float64(r.Minflt)
	u.resident, err = peakResident(r)
	return u, err
}
