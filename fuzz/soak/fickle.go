package soak

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// A fickle device has no room now and then, panics, and takes its time, until it is calm.
type fickle struct {
	upstreamtest.Pages
	counts *counts
	calm   atomic.Bool
}

const isFickle = "the device is fickle"

func upset(d device.Device, c *counts) *fickle {
	f := &fickle{counts: c}
	f.Under, f.Before = d, f.before
	return f
}

func (f *fickle) before(call string) error {
	if f.calm.Load() || call != "Alloc" && call != "Reserve" && call != "Commit" {
		return nil
	}
	switch k := rand.IntN(200); {
	case k < 4:
		f.counts.failures.Add(1)
		return fmt.Errorf("%s: %w", isFickle, device.ErrOutOfMemory)
	case k == 4:
		f.counts.panics.Add(1)
		panic(isFickle)
	case k < 10:
		for range 100 {
			runtime.Gosched()
		}
	}
	return nil
}
