//go:build race

package slab

import "sync/atomic"

type askedBytes = atomic.Int64
