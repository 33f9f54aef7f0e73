//go:build unix

package main

import "syscall"

// mostConnections returns how many connections a process can have both ends of: ulimit -n.
func mostConnections() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 100
	}
	return int(min(l.Cur, 1<<20))/2 - 100
}
