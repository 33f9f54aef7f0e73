package upstream

import (
	"errors"
	"fmt"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// ErrInjected is a failure that is not a lack of room. No strategy knows it,
// so every strategy has to pass it on.
var ErrInjected = errors.New("fuzz: failure on command")

// A Fault is what an upstream has been told to do wrong, once.
type Fault struct {
	Err    error  // of the calls that fail; nil if none does
	Breach Breach // of the next block

	after  int // calls that still succeed
	times  int // calls that fail then
	struck bool
}

// DrawFault draws calls that fail, soon.
func DrawFault(t *rapid.T) Fault {
	return Fault{
		after: rapid.IntRange(0, 2).Draw(t, "after"),
		times: rapid.IntRange(1, 4).Draw(t, "times"),
		Err:   rapid.SampledFrom([]error{device.ErrOutOfMemory, ErrInjected, device.ErrDeviceLost}).Draw(t, "fails"),
	}
}

// A Breach is a way to break the contract of [slab.Allocator].
type Breach int

// The breaches; the zero one is none.
const (
	none Breach = iota
	NoRegion
	TooShort
	Misaligned
)

func (b Breach) String() string {
	return [...]string{"none", "no region", "too short", "misaligned"}[b]
}

// Arm tells the upstream what to do wrong.
func (u *Upstream) Arm(f Fault) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fault = f
}

// Disarm makes it honest again and reports whether it had done wrong.
func (u *Upstream) Disarm() (struck bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	struck, u.fault = u.fault.struck, Fault{}
	return struck
}

// strike returns the error of a call whose turn it is to fail.
func (f *Fault) strike() error {
	switch {
	case f.Err == nil:
		return nil
	case f.after > 0:
		f.after--
		return nil
	case f.times == 0:
		return nil
	}
	f.times--
	f.struck = true
	return fmt.Errorf("fuzz: upstream fails on command: %w", f.Err)
}

// give allocates from the source, and breaks the contract once if told to.
func (f *Fault) give(source slab.Allocator, size int) (lent, error) {
	how := f.Breach
	f.Breach = none
	f.struck = f.struck || how != none
	if how == NoRegion {
		return lent{}, nil
	}
	more := 0
	if how == Misaligned {
		more = 1
	}
	b, err := source.Alloc(size + more)
	if err != nil {
		return lent{}, err
	}
	given := device.Block{Region: b.Region, Off: b.Off + more, Len: size}
	if how == TooShort {
		given.Len--
	}
	return lent{given, b}, nil
}
