//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"runtime"
	"sync"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

// A gpu is a device of the driver with its primary context. There is one for
// each ordinal, made when it is first asked for and kept: memory outlives the
// device that it came from, and a context is no lighter for being taken down and
// put up again.
type gpu struct {
	ordinal int
	label   string // for errors
	dev     cu.Device
	ctx     cu.CUContext

	mu     sync.Mutex
	queues []cu.Stream // not in use, for reuse: making one takes long
	events []cu.Event  // not in use, for reuse
}

var gpus = struct {
	sync.Mutex
	of map[int]*gpu
}{of: map[int]*gpu{}}

func gpuOf(ordinal int) (*gpu, error) {
	if err := initialized(); err != nil {
		return nil, fmt.Errorf("cuda: the driver does not start: %w (%w)", err, device.ErrUnavailable)
	}
	gpus.Lock()
	defer gpus.Unlock()
	if g := gpus.of[ordinal]; g != nil {
		return g, nil
	}
	dev, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, fmt.Errorf("cuda: GPU %d: %w (%w)", ordinal, err, device.ErrUnavailable)
	}
	g := &gpu{ordinal: ordinal, label: fmt.Sprintf("GPU %d", ordinal), dev: dev}
	if g.ctx, err = dev.RetainPrimaryCtx(); err != nil {
		return nil, fmt.Errorf("cuda: context of GPU %d: %w", ordinal, translate(err))
	}
	gpus.of[ordinal] = g
	return g, nil
}

// do makes calls of the driver. A context is current to a thread of the
// system, and goroutines change threads, so it is set anew each time; that
// takes less than any call that it is set for.
func (g *gpu) do(calls func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(g.ctx); err != nil {
		return translate(err)
	}
	return translate(calls())
}

// can reports whether the driver claims an attribute of the device.
func (g *gpu) can(a cu.DeviceAttribute) bool {
	value, err := g.dev.Attribute(a)
	return err == nil && value != 0
}

// queue returns a stream of the driver with nothing in it. It does not wait
// for the stream that the driver has by default, which this package does not use.
func (g *gpu) queue() (q cu.Stream, err error) {
	if q, ok := pop(g, &g.queues); ok {
		return q, nil
	}
	err = g.do(func() (err error) {
		q, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	return q, err
}

// event returns one that measures no time.
func (g *gpu) event() (e cu.Event, err error) {
	if e, ok := pop(g, &g.events); ok {
		return e, nil
	}
	err = g.do(func() (err error) {
		e, err = cu.MakeEvent(cu.DisableTiming)
		return err
	})
	return e, err
}

func pop[T any](g *gpu, list *[]T) (x T, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	last := len(*list) - 1
	if last < 0 {
		return x, false
	}
	x = (*list)[last]
	*list = (*list)[:last]
	return x, true
}

func push[T any](g *gpu, list *[]T, x T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*list = append(*list, x)
}
