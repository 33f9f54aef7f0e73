package fuzz

import (
	"math"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
)

// An Option says what [CheckAllocator] and [CheckPool] may expect of what they
// check, or what they put beneath it. What no option settles is drawn anew for
// each program.
type Option func(*settings)

type settings struct {
	capacity int64 // bytes of the upstream; 0: drawn
	maxSize  int
	ranges   []bool // to draw from
	align    int
	hostile  bool
	maxBytes int64
	zeroed   bool
	device   func() (device.Device, error)
	buffers  func(dev device.Device, n int) (UnifiedBuffer, error)
}

func settle(options []Option) settings {
	s := settings{maxSize: 64 << 10, ranges: []bool{false, true}, align: 1, maxBytes: math.MaxInt64}
	for _, o := range options {
		o(&s)
	}
	return s
}

// Capacity makes the upstream one of so many bytes. Without it every other
// program has an upstream that is soon full, and the rest one that is not.
func Capacity(bytes int64) Option { return func(s *settings) { s.capacity = bytes } }

// MaxSize bounds what a program asks for at a time, 64 KiB unless set.
// Absurd sizes, which have to be refused, are asked for in any case.
func MaxSize(bytes int) Option { return func(s *settings) { s.maxSize = bytes } }

// Ranges makes the upstream one that can extend regions, a [device.Reserver].
func Ranges() Option { return func(s *settings) { s.ranges = []bool{true} } }

// NoRange makes the upstream one that cannot: its Reserve is unavailable.
func NoRange() Option { return func(s *settings) { s.ranges = []bool{false} } }

// Align says that the address of every block is a multiple of n, as the
// addresses of the upstream's blocks are then.
func Align(n int) Option { return func(s *settings) { s.align = n } }

// Hostile makes the upstream break its contract now and then: it gives a block
// without a region or one that is too short, and to a pool a misaligned one. The answer has to be
// an error that wraps slab.ErrUpstream, and what was given has to go back.
func Hostile() Option { return func(s *settings) { s.hostile = true } }

// MaxBytes says that no more than so many bytes of the upstream may be out at
// a time, not for a moment.
func MaxBytes(bytes int64) Option { return func(s *settings) { s.maxBytes = bytes } }

// Zeroed says that every block is handed out cleared.
func Zeroed() Option { return func(s *settings) { s.zeroed = true } }

// OnDevice takes the upstream's memory from a device, a new one for each
// program, instead of from the check's own. The upstream is then a
// [device.Device] itself, with all that the device can do, and is watched as ever.
func OnDevice(open func() (device.Device, error)) Option {
	return func(s *settings) { s.device = open }
}

// ample is more than a program asks for, and less than the absurd sizes, where
// an int has 32 bits, too.
func (s settings) ample() int64 { return max(1<<28, 64*int64(s.maxSize)) }

// drawCapacity draws one that a few blocks fill, or an ample one.
func (s settings) drawCapacity(t *rapid.T) int64 {
	switch {
	case s.capacity > 0:
		return s.capacity
	case rapid.Bool().Draw(t, "scarce"):
		return int64(rapid.IntRange(s.maxSize/8+1, 8*s.maxSize).Draw(t, "capacity"))
	}
	return s.ample()
}
