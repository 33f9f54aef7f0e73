package sim

import "github.com/bufslab/bufslab/device"

// FailAlloc makes the n-th Alloc from now, of page-locked memory too, fail with
// an error that wraps err, such as device.ErrOutOfMemory. err must not be nil. 1
// is the next call; 0 or less takes the fault back. A new call replaces the fault
// of an earlier one.
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
	d.faults.of[c] = fault{in: max(n, 0), err: err}
}

// Lose makes the n-th call from now and all later ones fail with an error that
// wraps device.ErrDeviceLost, on the device and its streams. Work that is
// enqueued and not done then is never done. Alloc, Copy, Fill, Launch, MemInfo,
// NewStream and Pinned count; Free does not, and still works. 1 is the next call;
// 0 or less takes the fault back. A lost device stays lost.
func (d *Device) Lose(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.loss = fault{in: max(n, 0), err: device.ErrDeviceLost}
}

// A call is a kind of call that can be made to fail.
type call int

const (
	callAlloc call = iota
	callCopy
	callFill
	callLaunch
	callOther // counts for Lose only
	calls
)

// A fault strikes when its countdown gets to zero; below 1 it is not armed.
type fault struct {
	in  int
	err error
}

// strike counts one call and returns the error if it is the one.
func (f *fault) strike() error {
	f.in--
	if f.in == 0 {
		return f.err
	}
	f.in = max(f.in, 0)
	return nil
}

type faults struct {
	of   [calls]fault
	loss fault // counts calls of all kinds
	lost bool
}

// strike counts one call of a kind. Both countdowns advance on every call, so
// that one fault does not shift another.
func (f *faults) strike(c call) error {
	own := f.of[c].strike()
	if f.loss.strike() != nil {
		f.lost = true
	}
	if f.lost {
		return device.ErrDeviceLost
	}
	return own
}
