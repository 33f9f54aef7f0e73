//go:build darwin || dragonfly || linux || netbsd || openbsd || solaris

package device

import "golang.org/x/sys/unix"

// mapNoReserve keeps reserved addresses from counting as promised memory.
const mapNoReserve = unix.MAP_NORESERVE
