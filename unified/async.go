package unified

import "github.com/bufslab/bufslab/device"

// See the section Streams of the package comment for all these methods.

// SyncToDeviceOn is SyncToDevice on a stream. Do not write to slices of the host
// side until the copy is done; a new HostMut waits for it.
func (b *Buffer[T]) SyncToDeviceOn(s device.Stream) error { return b.access(syncDevice, s) }

// SyncToHostOn is SyncToHost on a stream. Host waits for it.
func (b *Buffer[T]) SyncToHostOn(s device.Stream) error { return b.access(syncHost, s) }

// DeviceOn is Device for work that the caller enqueues on s next. Use the block
// on s only. Another access that depends on that work waits for it; UsedOn says
// where the work ends.
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

// UsedOn says that s has all its work on these elements. Without UsedOn, an access
// that depends on that work waits for all work that s has at the time of the access.
// Call UsedOn or Sync the stream before you close it: a closed stream does not say
// whether its work has failed. For a nil stream the error wraps device.ErrUnavailable.
func (b *Buffer[T]) UsedOn(s device.Stream) error {
	a, err := b.lock()
	if err != nil {
		return err
	}
	defer a.mu.Unlock()
	if err := a.accepts(s); err != nil {
		return err
	}
	for i := range a.uses {
		if u := &a.uses[i]; u.stream == s && u.meets(b.lo, b.hi) {
			if err := u.close(); err != nil {
				return err
			}
		}
	}
	return nil
}
