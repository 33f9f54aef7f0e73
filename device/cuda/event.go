//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"runtime"
	"sync"

	"gorgonia.org/cu"
)

// An event is a point in a stream. The driver's event behind it is used again
// as soon as it is known to be over and no call is using it, or else when the
// collector finds the event.
type event struct {
	gpu *gpu

	mu    sync.Mutex
	ev    cu.Event
	users int   // calls that use ev
	over  bool  // ev is not ours any more once users is 0
	err   error // for which the work before was given up
}

// record makes an event of what is in q so far.
func (g *gpu) record(q cu.Stream) (*event, error) {
	ev, err := g.event()
	if err != nil {
		return nil, err
	}
	if err := g.do(func() error { return ev.Record(q) }); err != nil {
		push(g, &g.events, ev)
		return nil, err
	}
	e := &event{gpu: g, ev: ev}
	runtime.SetFinalizer(e, (*event).forgotten)
	return e, nil
}

func (e *event) forgotten() {
	if !e.over {
		push(e.gpu, &e.gpu.events, e.ev)
	}
}

// use makes a call with ev, unless the event is over. Final says that any
// answer but NotReady means that it is. The context is g's.
func (e *event) use(g *gpu, call func(cu.Event) error, final bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return e.err
	}
	e.users++
	e.mu.Unlock() // the call may wait
	err := g.do(func() error { return call(e.ev) })
	e.mu.Lock()
	e.users--
	if final && !e.over && err != cu.NotReady {
		e.over, e.err = true, err
	}
	if e.over && e.users == 0 {
		push(e.gpu, &e.gpu.events, e.ev)
	}
	return err
}

func (e *event) Done() bool { return e.use(e.gpu, cu.Event.Query, true) != cu.NotReady }

func (e *event) Sync() error { return e.use(e.gpu, cu.Event.Synchronize, true) }

// holdUp makes what comes into q, a queue of g, wait for the event. The driver
// takes the event's state at the time of the call, so it may be recorded again
// right after.
func (e *event) holdUp(g *gpu, q cu.Stream) error {
	return e.use(g, func(ev cu.Event) error { return q.Wait(ev, 0) }, false)
}
