package unified

import "github.com/bufslab/bufslab/device"

// What all methods here have in common stands in doc.go, under Streams.

// SyncToDeviceOn is SyncToDevice on a stream: the host side must not be
// written, but by HostMut, until the copy is done.
func (b *Buffer[T]) SyncToDeviceOn(s device.Stream) error { return b.access(syncDevice, s) }

// SyncToHostOn is SyncToHost on a stream. Host waits for it.
func (b *Buffer[T]) SyncToHostOn(s device.Stream) error { return b.access(syncHost, s) }

// DeviceOn is Device for work that the caller enqueues on s next. The block
// is for s alone, until another access of the buffer has to wait for that work.
// See UsedOn for how long it waits.
func (b *Buffer[T]) DeviceOn(s device.Stream) (device.Block, error) { return b.blockOn(readDevice, s) }

// DeviceMutOn is DeviceMut for work that the caller enqueues on s next, as
// DeviceOn is Device.
func (b *Buffer[T]) DeviceMutOn(s device.Stream) (device.Block, error) {
	return b.blockOn(writeDevice, s)
}

// DeviceOverwriteOn is DeviceOverwrite for work that the caller enqueues on s
// next, as DeviceOn is Device.
func (b *Buffer[T]) DeviceOverwriteOn(s device.Stream) (device.Block, error) {
	return b.blockOn(overwriteDevice, s)
}

// UsedOn says that what s was given so far is all that uses these elements there.
// Without it an access that has to wait waits for what else s has been given
// until then. Before a stream is closed call it, or Sync the stream: one that
// is closed does not tell any more whether its work has failed.
func (b *Buffer[T]) UsedOn(s device.Stream) error {
	a, err := b.lock()
	if err != nil {
		return err
	}
	defer a.mu.Unlock()
	for i := range a.uses {
		if u := &a.uses[i]; u.stream == s && u.meets(b.lo, b.hi) {
			if err := u.close(); err != nil {
				return err
			}
		}
	}
	return nil
}
