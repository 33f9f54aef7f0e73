package unified

import "github.com/bufslab/bufslab/device"

// Device brings the device memory up to date and returns it for reading. Do not
// use the block after Free, and do not give it to the device's own Free. For an
// empty buffer it is the zero Block. An error leaves everything as it was.
//
// Device is for work that is done when its call returns. For work on a stream
// there is DeviceOn.
func (b *Buffer[T]) Device() (device.Block, error) { return b.block(readDevice) }

// DeviceMut brings the device memory up to date and returns it for reading and
// writing. From now on the host side counts as behind, so write before you ask
// for it.
func (b *Buffer[T]) DeviceMut() (device.Block, error) { return b.block(writeDevice) }

// DeviceOverwrite is DeviceMut for a caller that writes every element. It copies
// nothing: the old contents are lost, and the block is undefined.
func (b *Buffer[T]) DeviceOverwrite() (device.Block, error) { return b.block(overwriteDevice) }

func (b *Buffer[T]) block(c access) (device.Block, error) { return b.blockOn(c, nil) }

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
