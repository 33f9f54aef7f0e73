// Package reserve takes memory for a strategy when it is opened: as much as a user has
// said, or as the last run needed.
package reserve

import (
	"errors"
	"math"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/learned"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Reserve is what to take. The zero Reserve is nothing.
type Reserve struct {
	bytes  int64
	wanted bool   // by the user, who is told if there is no room
	file   string // that gets the peak, or ""
}

// A Strategy has a page heap that can be filled.
type Strategy interface {
	Prefill(n int) error
	Extends(n int) bool
	PeakUsed() int64
}

const prefix = "learned:" // before the name of a file

// Valid reports whether text is a size or names a file of a peak.
func Valid(text string) bool {
	file, is := strings.CutPrefix(text, prefix)
	return is && file != "" || Size(text) > 0
}

// File returns the file that a text names, "" of any other.
func File(text string) string {
	file, _ := strings.CutPrefix(text, prefix)
	if file == text {
		return ""
	}
	return file
}

// Size returns the bytes of a text that is a size, 0 of any other.
func Size(text string) int64 {
	n, err := device.ParseSize(text)
	if err != nil || n > int64(upstream.MaxSize) {
		return 0
	}
	return n
}

// Of returns what text asks for, which may be empty, but no more than most. It reads the file
// of a learned one: a hundredth more than the last peak is for what does not fit exactly.
func Of(text string, most int64) (r Reserve, err error) {
	if n := Size(text); n > 0 {
		r.bytes, r.wanted = n, true
	}
	if file, is := strings.CutPrefix(text, prefix); is {
		peak, err := learned.PeakOf(file)
		if err != nil {
			return r, err
		}
		r.file, r.bytes = file, peak+peak/100
	}
	if r.bytes = min(r.bytes, most); r.bytes > int64(upstream.MaxSize) {
		r.bytes = 0
	}
	return r, nil
}

// leastStranded is the part of a budget, as a divisor, from which on a reserve that is one piece must not
// keep blocks from the rest.
const leastStranded = 16

// ErrStrands is of a reserve of one piece that would keep blocks from using a budget up: some end of it
// fits none, and the rest of the budget has no room for one either.
var ErrStrands = errors.New("of one piece that does not grow: beside it blocks cannot use up max_bytes; want all of that, a sixteenth at most, or none")

// strands reports whether r is such a reserve, of a budget of most bytes.
func (r Reserve) strands(s Strategy, most int64) bool {
	return r.bytes < most && most/leastStranded < r.bytes && !s.Extends(int(r.bytes))
}

// Take has a strategy take r, in a budget of most bytes: math.MaxInt64 where there is none. What was learned is a hint:
// without room for it the strategy begins with nothing.
func (r Reserve) Take(s Strategy, most int64) error {
	if r.bytes == 0 {
		return nil
	}
	if most < math.MaxInt64 && r.strands(s, most) {
		if r.wanted {
			return ErrStrands
		}
		return nil
	}
	err := s.Prefill(int(r.bytes))
	if !r.wanted && upstream.OutOfMemory(err) {
		return nil
	}
	return err
}

// Finish returns what writes the peak of a strategy at the end, nil if nothing is learned.
func (r Reserve) Finish(s Strategy) func() error {
	if r.file == "" {
		return nil
	}
	return func() error { return learned.WritePeak(r.file, s.PeakUsed()) }
}
