package sim

import (
	"time"

	"github.com/bufslab/bufslab/device"
)

// What a test sets and sees.

// FailAlloc makes the n-th Alloc from now, of page-locked memory too, fail with
// an error that wraps err, such as device.ErrOutOfMemory. err must not be nil. 1
// is the next call; 0 or less takes the fault back. A new call replaces the fault
// of an earlier one. An Alloc of 0 bytes or of a negative size is no call: no fault
// strikes it, nor does that of Lose, and [Stats] do not count it.
func (d *Device) FailAlloc(n int, err error) { d.arm(callAlloc, n, err) }

// FailCopy is FailAlloc for Copy of the device and of its streams. It counts
// calls when they are made. On a stream the copy fails when it would have been
// done. No byte moves.
func (d *Device) FailCopy(n int, err error) { d.arm(callCopy, n, err) }

// FailFill is FailAlloc for Fill, which only streams have.
func (d *Device) FailFill(n int, err error) { d.arm(callFill, n, err) }

// FailLaunch is FailAlloc for [Stream.Launch].
func (d *Device) FailLaunch(n int, err error) { d.arm(callLaunch, n, err) }

func (d *Device) arm(c call, n int, err error) {
	if err == nil {
		panic("sim: told to fail with a nil error")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults[c] = fault{in: max(n, 0), err: err}
}

// Lose makes the n-th call from now and all later ones fail with an error that
// wraps device.ErrDeviceLost, on the device and its streams. Work that is
// enqueued and not done then is never done. Alloc, Copy, Fill, Launch, MemInfo,
// NewStream and Pinned count; Free does not, and still works. 1 is the next call;
// 0 or less takes the fault back. A lost device stays lost.
func (d *Device) Lose(n int) { d.arm(anyCall, n, device.ErrDeviceLost) }

// Late makes later work of streams end late, by random times that follow from
// seed, so that streams overtake each other. Each call moves the clock on by 1 µs
// on average. A piece of work ends up to 255 µs later than it could, 28 on average,
// and the next one of its stream after it: delays of a stream add up. Every copy of
// a stream is then late, copies of pageable memory too. A copy reads its source when
// it is done, not when it is enqueued, so a missing wait shows as wrong bytes.
// [Device.Copy] waits for no stream.
func (d *Device) Late(seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.beLate(seed)
}

// Costs sets how long later work takes.
func (d *Device) Costs(c Costs) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.costs = c
}

// Clock returns the simulated time since the device was made.
func (d *Device) Clock() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// Advance moves the clock on by t, as if the host computed for so long.
func (d *Device) Advance(t time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reach(later(d.now, max(t, 0)))
}

// Stats returns the counters, all of one moment.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}
