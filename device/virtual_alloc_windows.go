package device

import "syscall"

// Package golang.org/x/sys/windows has these calls, and package net, which users of a pool would get with it.

var (
	kernel32           = syscall.NewLazyDLL("kernel32.dll")
	procVirtualAlloc   = kernel32.NewProc("VirtualAlloc")
	procVirtualFree    = kernel32.NewProc("VirtualFree")
	globalMemoryStatus = kernel32.NewProc("GlobalMemoryStatusEx")
)

const (
	memCommit, memReserve       = 0x1000, 0x2000
	memDecommit, memRelease     = 0x4000, 0x8000
	pageNoAccess, pageReadWrite = 0x01, 0x04
)

func virtualAlloc(at uintptr, size, how, access int) (uintptr, error) {
	p, _, err := procVirtualAlloc.Call(at, uintptr(size), uintptr(how), uintptr(access))
	if p == 0 {
		return 0, err
	}
	return p, nil
}

func virtualFree(at uintptr, size, how int) error {
	if ok, _, err := procVirtualFree.Call(at, uintptr(size), uintptr(how)); ok == 0 {
		return err
	}
	return nil
}
