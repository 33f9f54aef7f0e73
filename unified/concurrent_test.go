package unified_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// Many goroutines use views of one buffer, each its own, over streams that
// they share and that work late.
func TestViewsInManyGoroutines(t *testing.T) {
	d := device.NewSim(1 << 20)
	d.Late(1)
	b := made[byte](t, d, 800)
	streams := []*device.SimStream{stream(t, d), stream(t, d), stream(t, d)}
	var group sync.WaitGroup
	for id := range 8 {
		v, err := b.View(100*id, 100*id+100)
		must(t, err)
		group.Go(func() {
			for i := range 100 {
				if err := increment(v, byte(id+i), streams[i%3], streams[(i+id)%3]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	must(t, b.Free())
	if n := d.Stats().UsedAfterFree; n != 0 {
		t.Errorf("%d pieces of work came to freed memory", n)
	}
}

// increment sends a value to the device by one stream, has another add 1, and looks.
func increment(b *unified.Buffer[byte], value byte, up, kernels *device.SimStream) error {
	err := errors.Join(b.Fill(value), b.SyncToDeviceOn(up))
	x, on := b.DeviceMutOn(kernels)
	err = errors.Join(err, on, kernels.Launch(time.Microsecond, func(args ...[]byte) {
		for i := range args[0] {
			args[0][i]++
		}
	}, x), b.UsedOn(kernels), b.SyncToHostOn(up))
	m, read := b.ToSlice()
	if err = errors.Join(err, read); err != nil {
		return err
	}
	for i, got := range m {
		if got != value+1 {
			return fmt.Errorf("element %d is %d, not %d", i, got, value+1)
		}
	}
	return nil
}

// Of many goroutines that free a buffer one does.
func TestFreeInManyGoroutines(t *testing.T) {
	d := device.NewSim(1 << 20)
	for range 100 {
		b := made[byte](t, d, 100)
		must(t, b.SyncToDevice())
		var group sync.WaitGroup
		won := make(chan bool, 4)
		for range 4 {
			group.Go(func() {
				_ = b.Fill(1)
				won <- b.Free() == nil
			})
		}
		group.Wait()
		n := 0
		for range 4 {
			if <-won {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%d goroutines have freed one buffer", n)
		}
	}
}
