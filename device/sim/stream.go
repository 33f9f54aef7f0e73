package sim

import (
	"container/heap"
	"slices"
	"time"

	"github.com/bufslab/bufslab/device"
)

var _ device.Stream = (*Stream)(nil)

// A Stream is the Stream of a [Device]. [Device.Costs] says how long its work
// takes and [Device.Late] how late it is; without them work is done within the
// call. A fault counts calls when they are made, and strikes when the work would
// have been done: in the call itself, or else in a later call, an event or Sync.
// If memory is freed before work that uses it is done, the stream fails with
// ErrUnavailable, and Stats.UsedAfterFree counts it.
type Stream struct {
	dev *Device

	// The device's mu guards these.
	progress
	closed bool
}

// NewStream returns a *Stream. The faults and the statistics of the device count
// its calls.
func (d *Device) NewStream() (device.Stream, error) {
	if err := d.begin(); err != nil {
		return nil, err
	}
	return &Stream{dev: d}, nil
}

// Copy enqueues a copy; see [Device.Copy].
func (s *Stream) Copy(dst, src device.Block) error {
	return s.enqueue(func() (*work, error) { return s.dev.planCopy(dst, src) })
}

// Fill enqueues that every byte of dst becomes value.
func (s *Stream) Fill(dst device.Block, value byte) error {
	return s.enqueue(func() (*work, error) { return s.dev.planFill(dst, value) })
}

// Launch enqueues a kernel: a function that takes time on the device and gets
// the bytes of args, blocks of this device that do not overlap. What it writes to
// them is in the blocks afterwards. The device's lock is held, so kernel must not
// call the device or its streams. It must not keep the slices.
func (s *Stream) Launch(time time.Duration, kernel func(args ...[]byte), args ...device.Block) error {
	return s.enqueue(func() (*work, error) { return s.dev.planLaunch(time, kernel, args) })
}

// enqueue puts the work of a plan at the end of the stream. It takes the
// device's mu. An error of the plan is one of its arguments, and fails the
// stream behind what is enqueued.
func (s *Stream) enqueue(plan func() (*work, error)) error {
	d := s.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	w, err := plan()
	if err != nil {
		s.fail(d.number(), err)
		return s.err
	}
	s.put(w)
	if w.waits {
		d.reach(w.end)
	}
	return s.err
}

// Wait of an event of another device waits within the call.
func (s *Stream) Wait(e device.Event) error {
	own, ok := e.(*event)
	if !ok || own.dev != s.dev {
		err := device.SyncEvent(e) // without the lock: the event may be of any device
		return s.enqueue(func() (*work, error) { return failing(err), nil })
	}
	return s.enqueue(func() (*work, error) {
		s.tail = max(s.tail, own.at)
		return &work{engine: engineNone, do: own.err}, nil
	})
}

// Record strikes no fault, but fails on a lost device.
func (s *Stream) Record() (device.Event, error) {
	s.dev.mu.Lock()
	defer s.dev.mu.Unlock()
	if err := s.begin(); err != nil {
		return nil, err
	}
	if s.dev.lost != nil {
		return nil, s.dev.lost
	}
	return &event{dev: s.dev, of: &s.progress, number: s.dev.number(), at: s.tail}, nil
}

// Accepts makes a Stream a [device.Accepter]. It takes no time and strikes no fault.
func (s *Stream) Accepts(b device.Block) error {
	s.dev.mu.Lock()
	defer s.dev.mu.Unlock()
	if s.closed {
		return s.dev.base.StreamClosed()
	}
	if b.Len == 0 {
		return nil
	}
	_, err := s.dev.locate(b)
	return err
}

// Sync moves the clock on to the end of the work.
func (s *Stream) Sync() error {
	s.dev.mu.Lock()
	defer s.dev.mu.Unlock()
	if err := s.finish(); err != nil {
		return err
	}
	return s.err
}

// Close moves the clock on as Sync does.
func (s *Stream) Close() error {
	s.dev.mu.Lock()
	defer s.dev.mu.Unlock()
	if err := s.finish(); err != nil {
		return err
	}
	s.closed = true
	return nil
}

// UnderWay makes a Device a [device.Overseer]. It takes no time. The work of a failed stream, and on a lost
// device, is never done and is not under way.
func (d *Device) UnderWay(b device.Block, but ...device.Stream) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	var named time.Duration // until then they have work
	for _, s := range but {
		if own, ok := s.(*Stream); ok && own.dev == d {
			named = max(named, own.tail)
		}
	}
	return d.lost == nil && slices.ContainsFunc(d.queue, func(w *work) bool {
		return w.end > named && !w.of.failed(w.number) && slices.ContainsFunc(w.uses, func(x device.Block) bool {
			return x.Region == b.Region && x.Off < b.Off+b.Len && b.Off < x.Off+x.Len
		})
	})
}

// The caller of all below holds the device's mu.

// finish does all work of the stream. It fails only on a closed one.
func (s *Stream) finish() error {
	if s.closed {
		return s.dev.base.StreamClosed()
	}
	s.dev.tick()
	s.dev.reach(s.tail)
	return nil
}

// begin is the first line of every call: it takes its time and returns the
// error of a stream or device that does no more work.
func (s *Stream) begin() error {
	if s.closed {
		return s.dev.base.StreamClosed()
	}
	s.dev.tick()
	if s.err != nil {
		return s.err
	}
	return s.dev.base.Usable()
}

// put gives work its place and its time.
func (s *Stream) put(w *work) {
	d := s.dev
	w.of, w.number = &s.progress, d.number()
	w.end = later(d.occupy(w.engine, w.cost, s.tail), d.delay())
	s.tail = w.end
	heap.Push(&d.queue, w)
	d.reach(d.now)
}
