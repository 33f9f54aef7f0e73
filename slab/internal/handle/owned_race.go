//go:build race

package handle

import "sync/atomic"

type (
	ownedNumber  = atomic.Uint32
	lockedNumber = atomic.Uintptr
)
