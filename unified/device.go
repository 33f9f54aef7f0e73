package unified

import "github.com/bufslab/bufslab/device"

// Device returns the contents for reading: the device memory, which is brought
// up to date first. The block must not outlive the buffer, nor be freed. For an
// empty buffer it is the zero Block. An error leaves everything as it was.
//
// It is for calls that return when they are done. For work on a stream
// there is DeviceOn.
func (b *Buffer[T]) Device() (device.Block, error) { return b.block(readDevice) }

// DeviceMut returns the contents for reading and writing, up to date. The
// host side counts as behind from now on, so write before it is asked for.
func (b *Buffer[T]) DeviceMut() (device.Block, error) { return b.block(writeDevice) }

// DeviceOverwrite is DeviceMut for who writes every element: nothing is
// copied first, what was there is lost, and the block holds anything.
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

// SyncToDevice brings the device side up to date, if there is anything that it
// does not have.
func (b *Buffer[T]) SyncToDevice() error { return b.access(syncDevice, nil) }

// MarkDeviceDirty says that the device side was written, all of it: the host
// side is behind. The error wraps ErrConflict if the host side has been
// written since, because that would be lost, and ErrUninitialized if the device
// side holds nothing. Nothing changes then. For a part of the buffer mark a view.
func (b *Buffer[T]) MarkDeviceDirty() error { return b.access(markDevice, nil) }
