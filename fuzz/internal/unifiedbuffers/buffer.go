package unifiedbuffers

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// A Buffer is what is checked: fuzz.UnifiedBuffer is another name of it.
type Buffer interface {
	Host() ([]byte, error)
	HostMut() ([]byte, error)
	HostOverwrite() ([]byte, error)
	HostRange(i, j int) ([]byte, error)
	HostMutRange(i, j int) ([]byte, error)
	CopyFrom(src []byte) error
	CopyTo(dst []byte) error
	Fill(v byte) error
	Zero() error
	ToSlice() ([]byte, error)

	Device() (device.Block, error)
	DeviceMut() (device.Block, error)
	DeviceOverwrite() (device.Block, error)
	DeviceOn(s device.Stream) (device.Block, error)
	DeviceMutOn(s device.Stream) (device.Block, error)
	DeviceOverwriteOn(s device.Stream) (device.Block, error)
	UsedOn(s device.Stream) error

	SyncToDevice() error
	SyncToHost() error
	SyncToDeviceOn(s device.Stream) error
	SyncToHostOn(s device.Stream) error
	MarkHostDirty() error
	MarkDeviceDirty() error

	State() unified.State
	Free() error
}
