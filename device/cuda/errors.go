//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

// sentinels says what codes of the driver mean here. Those of a lost device
// come again from every later call, because the context is spoilt.
var sentinels = map[error]error{
	cu.OutOfMemory: device.ErrOutOfMemory,

	code(46):                device.ErrUnavailable, // taken by another process
	cu.NoDevice:             device.ErrUnavailable,
	cu.InvalidDevice:        device.ErrUnavailable,
	cu.NotSupported:         device.ErrUnavailable,
	cu.SystemNotReady:       device.ErrUnavailable,
	cu.SystemDriverMismatch: device.ErrUnavailable,

	cu.Deinitialized:       device.ErrDeviceLost,
	cu.EccUncorrectable:    device.ErrDeviceLost,
	cu.NvlinkUncorrectable: device.ErrDeviceLost,
	cu.IllegalAddress:      device.ErrDeviceLost,
	cu.LaunchTimeout:       device.ErrDeviceLost,
	cu.ContextIsDestroyed:  device.ErrDeviceLost,
	cu.Assert:              device.ErrDeviceLost,
	cu.HardwareStackError:  device.ErrDeviceLost,
	cu.IllegalInstruction:  device.ErrDeviceLost,
	cu.MisalignedAddress:   device.ErrDeviceLost,
	cu.InvalidAddressSpace: device.ErrDeviceLost,
	cu.InvalidPc:           device.ErrDeviceLost,
	cu.LaunchFailed:        device.ErrDeviceLost,
	code(721):              device.ErrDeviceLost, // an error that was kept to the process
	cu.Unknown:             device.ErrDeviceLost,
}

// translate adds the sentinel of package device to a code of the driver.
// What is not in the table keeps its code alone; NotReady stays as it is, being no error.
func translate(err error) error {
	if s := sentinels[err]; s != nil {
		return fmt.Errorf("%w (%w)", s, err)
	}
	return err
}

// code is one that package cu is too old to name.
func code(n int) error { return codeLike(cu.Success, n) }

// A status is the type of package cu's codes, which has no name outside of it.
type status interface {
	~int
	error
}

// codeLike turns a code of our own calls into one of package cu.
func codeLike[S status](success S, code int) error {
	if S(code) == success {
		return nil
	}
	return S(code)
}
