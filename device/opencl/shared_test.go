package opencl_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Goroutines that share a pool and its streams never see each other's bytes,
// though none waits before it releases.
func TestPoolAndStreamsAreForSeveralGoroutines(t *testing.T) {
	eachPool(t, func(t *testing.T, d device.Device, p *slab.Pool, _ bool) {
		streams := []device.Stream{devcheck.Stream(t, d), devcheck.Stream(t, d)}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 15 {
					if err := round(p, streams[i%2], streams[(i+g)%2], 1+(i*977+g*131)%5000, byte(g*16+i)); err != nil {
						t.Errorf("goroutine %d, round %d: %v", g, i, err)
						return
					}
				}
			}()
		}
		wg.Wait()
		for _, s := range streams {
			check.Must(t, s.Sync(), s.Close())
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.Forgotten != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// round fills on one stream, reads on another, and releases at once.
func round(p *slab.Pool, write, read device.Stream, n int, value byte) error {
	b, err := p.GetOn(n, write)
	if err != nil {
		return err
	}
	back := make([]byte, n)
	for _, step := range []func() error{
		func() error { return write.Fill(b.Block(), value) },
		func() error { return after(write, read) },
		func() error { return b.UsedOn(read) },
		func() error { return read.Copy(device.Host(back), b.Block()) },
		b.Release,
		read.Sync,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if want := bytes.Repeat([]byte{value}, n); !bytes.Equal(back, want) {
		return fmt.Errorf("%d bytes of %d are not there", n-bytes.Count(back, []byte{value}), n)
	}
	return nil
}

// after makes s wait for what first has been given so far.
func after(first, s device.Stream) error {
	e, err := first.Record()
	if err != nil {
		return err
	}
	return s.Wait(e)
}
