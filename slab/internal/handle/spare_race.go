//go:build race

package handle

import "sync/atomic"

type spareBytes = atomic.Uint32
