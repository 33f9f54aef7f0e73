package model

import (
	"math"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// Settings are what the options of package fuzz set. Each program draws what
// they leave open.
type Settings struct {
	Capacity int64                         // bytes of the upstream; 0: drawn
	MaxSize  int                           // bytes of a request
	Ranges   []bool                        // whether the upstream has ranges; drawn from these
	Align    int                           // of every address
	Hostile  bool                          // the upstream breaks its contract now and then
	MaxBytes int64                         // of the upstream that may be out
	Zeroed   bool                          // blocks are handed out cleared
	Device   func() (device.Device, error) // nil: the check's own memory
}

// Defaults returns the settings without any option.
func Defaults() Settings {
	return Settings{MaxSize: 64 << 10, Ranges: []bool{false, true}, Align: 1, MaxBytes: math.MaxInt64}
}

// Open makes the upstream of a program. dev is nil unless memory comes from a
// device, which the program closes at its end.
func (s Settings) Open(t *rapid.T) (up *Upstream, dev device.Device) {
	capacity := s.drawCapacity(t)
	if s.Device != nil {
		dev, err := s.Device()
		OK(t, err)
		u := &Upstream{}
		u.Capacity, u.Under = capacity, dev
		return u.open(0), dev
	}
	u := &Upstream{}
	u.Capacity, u.Host, u.Align = capacity, true, s.Align
	if !rapid.SampledFrom(s.Ranges).Draw(t, "ranges") {
		return u.open(0), nil
	}
	return u.open(max(4*s.MaxSize, 16*upstreamtest.Page)), nil
}

// drawCapacity draws one that a few blocks fill, or an ample one.
func (s Settings) drawCapacity(t *rapid.T) int64 {
	switch {
	case s.Capacity > 0:
		return s.Capacity
	case rapid.Bool().Draw(t, "scarce"):
		return int64(rapid.IntRange(s.MaxSize/8+1, 8*s.MaxSize).Draw(t, "capacity"))
	}
	return s.ample()
}

// ample is more than a program asks for, and less than the absurd sizes even
// where an int has 32 bits.
func (s Settings) ample() int64 { return max(1<<28, 64*int64(s.MaxSize)) }
