package soak

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

// A fickle device has no room now and then, panics, and takes its time, until it is calm.
type fickle struct {
	device.Device
	counts *counts
	calm   atomic.Bool
}

const isFickle = "the device is fickle"

func (d *fickle) upset() error {
	switch k := rand.IntN(200); {
	case d.calm.Load():
	case k < 4:
		d.counts.failures.Add(1)
		return fmt.Errorf("%s: %w", isFickle, device.ErrOutOfMemory)
	case k == 4:
		d.counts.panics.Add(1)
		panic(isFickle)
	case k < 10:
		for range 100 {
			runtime.Gosched()
		}
	}
	return nil
}

func (d *fickle) Alloc(size int) (device.Block, error) {
	if err := d.upset(); err != nil {
		return device.Block{}, err
	}
	return d.Device.Alloc(size)
}

func (d *fickle) Traits() device.Traits { return device.TraitsOf(d.Device) }

func (d *fickle) Reserve(size int) (device.Range, error) {
	r, ok := d.Device.(device.Reserver)
	if !ok {
		return nil, device.ErrUnavailable
	}
	if err := d.upset(); err != nil {
		return nil, err
	}
	g, err := r.Reserve(size)
	return &fickleRange{g, d}, err
}

type fickleRange struct {
	device.Range
	d *fickle
}

func (r *fickleRange) Commit(off, n int) error {
	if err := r.d.upset(); err != nil {
		return err
	}
	return r.Range.Commit(off, n)
}
