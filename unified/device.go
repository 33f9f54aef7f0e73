package unified

import "github.com/bufslab/bufslab/device"

// Device brings the device memory up to date and returns it for reading. Do not
// use the block after Free, and do not give it to the device's own Free. For an
// empty buffer it is the zero Block. An error leaves everything as it was.
//
// Device is for work that is done when its call returns. For work on a stream
// there is DeviceOn.
func (b *Buffer[T]) Device() (device.Block, error) { return b.blockOn(readDevice, nil) }

// DeviceMut brings the device memory up to date and returns it for reading and
// writing. From now on the host side counts as behind, so write before you ask
// for it.
func (b *Buffer[T]) DeviceMut() (device.Block, error) { return b.blockOn(writeDevice, nil) }

// DeviceOverwrite is DeviceMut for a caller that writes every element. It copies
// nothing: the old contents are lost, and the block is undefined.
func (b *Buffer[T]) DeviceOverwrite() (device.Block, error) { return b.blockOn(overwriteDevice, nil) }

// blockOn makes an access of the device side and returns its memory.
func (b *Buffer[T]) blockOn(c access, s device.Stream) (device.Block, error) {
	a, err := b.lock()
	if err != nil {
		return device.Block{}, err
	}
	defer a.mu.Unlock()
	if err := a.access(b.lo, b.hi, c, s); err != nil {
		return device.Block{}, err
	}
	if s != nil {
		if err := a.handOn(b.lo, b.hi, c, s); err != nil {
			return device.Block{}, err
		}
	}
	return a.block(onDevice, b.lo, b.hi), nil
}

// SyncToDevice copies the elements that are current only on the host side to the device
// side. It does nothing where both sides are current, or where neither has contents.
func (b *Buffer[T]) SyncToDevice() error { return b.access(syncDevice, nil) }

// MarkDeviceDirty says that every element of the device side was written, so
// that the host side is behind. The error wraps ErrConflict if the host side was
// written too, because the host's write would be lost, and ErrUninitialized if the
// device side has no contents. After an error nothing has changed. To mark a part
// of the buffer call MarkDeviceDirty of a view.
func (b *Buffer[T]) MarkDeviceDirty() error { return b.access(markDevice, nil) }

// On streams: see that section of the package comment.

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
