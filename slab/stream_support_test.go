package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// streamSize is above every cache, so that all is up to the strategy.
const streamSize = 64 << 10

// used notes work of streams on a buffer.
func used(t testing.TB, b PooledBuffer, streams ...device.Stream) PooledBuffer {
	t.Helper()
	for _, s := range streams {
		if err := b.UsedOn(s); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func mustGetOn(t testing.TB, p *Pool, size int, s device.Stream) PooledBuffer {
	t.Helper()
	b, err := p.GetOn(size, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// streamPools runs f with a pool of every strategy, on a device with room for some
// blocks of streamSize.
func streamPools(t *testing.T, blocks int64, c Config, f func(t *testing.T, p *Pool, d *sim.Device)) {
	for _, name := range Strategies() {
		t.Run(name, func(t *testing.T) {
			c := c
			c.Strategy = name
			streamPool(t, blocks, c, f)
		})
	}
}

func streamPool(t *testing.T, blocks int64, c Config, f func(t *testing.T, p *Pool, d *sim.Device)) {
	d := sim.New(blocks * streamSize)
	p := mustOpen(t, d, c)
	f(t, p, d)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if n := d.Stats().ActiveBytes; n != 0 {
		t.Errorf("%d bytes are not given back", n)
	}
}

// waiting fails unless that many blocks wait and the counters add up.
func waiting(t testing.TB, p *Pool, blocks int64) {
	t.Helper()
	s := p.Stats()
	if s.WaitingBlocks != blocks || s.WaitingBytes < blocks || s.HeldBlocks < blocks || s.HeldBytes < s.WaitingBytes {
		t.Errorf("%d blocks should wait: %+v", blocks, s)
	}
	checkQuiet(t, p)
}

// where tells blocks apart: their region and offset.
func where(b PooledBuffer) device.Block {
	k := b.Block()
	k.Len = 0
	return k
}
