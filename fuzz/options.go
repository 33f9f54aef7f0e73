package fuzz

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// An Option says what a check may expect of what it checks, or what it puts
// beneath it. What no option settles is drawn anew for each program.
type Option func(*settings)

type settings struct {
	model.Settings
	buffers func(dev device.Device, n int) (UnifiedBuffer, error) // of CheckUnified
}

func settle(options []Option) settings {
	s := settings{Settings: model.Defaults()}
	for _, o := range options {
		o(&s)
	}
	return s
}

// Capacity sets the bytes of the upstream. Without it every other program has
// an upstream that is soon full, and the rest one that is not.
func Capacity(bytes int64) Option { return func(s *settings) { s.Capacity = bytes } }

// MaxSize bounds what a program asks for at a time, 64 KiB unless set.
// Absurd sizes, which have to be refused, are asked for in any case.
// MaxSize panics if bytes is below 1.
func MaxSize(bytes int) Option {
	if bytes < 1 {
		panic(fmt.Sprintf("fuzz: MaxSize of %d bytes, which is less than one", bytes))
	}
	return func(s *settings) { s.MaxSize = bytes }
}

// Ranges makes the upstream one that can extend regions, a [device.Reserver].
func Ranges() Option { return func(s *settings) { s.Ranges = []bool{true} } }

// NoRange makes the upstream one that cannot: its Reserve is unavailable.
func NoRange() Option { return func(s *settings) { s.Ranges = []bool{false} } }

// Align says that the address of every block is a multiple of n, as the
// addresses of the upstream's blocks are then, unless [OnDevice] has them come
// from a device. n is a power of two, or 0, which means any address, as in a
// [slab.Config]. Else Align panics.
func Align(n int) Option {
	if n < 0 || n&(n-1) != 0 {
		panic(fmt.Sprintf("fuzz: Align to %d, which is no power of two", n))
	}
	return func(s *settings) { s.Align = max(n, 1) }
}

// Hostile makes the upstream break its contract now and then: it gives a block
// without a region or one that is too short, and to a pool a misaligned one.
// The answer has to be an error that wraps slab.ErrUpstream, and what was given
// has to go back.
func Hostile() Option { return func(s *settings) { s.Hostile = true } }

// MaxBytes says that at no moment more bytes of the upstream may be out: then there may be no
// room though the upstream has some.
func MaxBytes(bytes int64) Option { return func(s *settings) { s.MaxBytes = bytes } }

// Zeroed says that every block is handed out cleared.
func Zeroed() Option { return func(s *settings) { s.Zeroed = true } }

// OnDevice takes the upstream's memory from a device, a new one for each
// program, instead of from the check's own. The upstream is then a
// [device.Device] itself, with all that the device can do, and is still watched.
func OnDevice(open func() (device.Device, error)) Option {
	return func(s *settings) { s.Device = open }
}

// Buffers makes [CheckUnified] check buffers of n bytes that open makes instead
// of those of package unified.
func Buffers(open func(dev device.Device, n int) (UnifiedBuffer, error)) Option {
	return func(s *settings) { s.buffers = open }
}
