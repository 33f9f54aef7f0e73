package fuzz

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// errInjected is a failure that is not a lack of room: no strategy can know
// it, so all have to pass it on.
var errInjected = errors.New("fuzz: failure on command")

// A fault is what an upstream has been told to do wrong, once.
type fault struct {
	after  int // calls that still succeed
	times  int // calls that fail then
	err    error
	breach breach
	struck bool
}

// A breach is a way to break the contract of Allocator.
type breach int

const (
	none breach = iota
	noRegion
	tooShort
	misaligned
)

func (b breach) String() string {
	return [...]string{"none", "no region", "too short", "misaligned"}[b]
}

// arm tells the upstream what to do wrong.
func (u *upstream) arm(f fault) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fault = f
}

// disarm makes it honest again and reports whether it had done wrong.
func (u *upstream) disarm() (struck bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	struck, u.fault = u.fault.struck, fault{}
	return struck
}

// strike returns the error of a call whose turn it is to fail.
func (f *fault) strike() error {
	switch {
	case f.err == nil:
		return nil
	case f.after > 0:
		f.after--
		return nil
	case f.times == 0:
		return nil
	}
	f.times--
	f.struck = true
	return fmt.Errorf("fuzz: upstream fails on command: %w", f.err)
}

// give draws on the source, and breaks the contract once if told to.
func (f *fault) give(source slab.Allocator, size int) (lent, error) {
	how := f.breach
	f.breach = none
	f.struck = f.struck || how != none
	if how == noRegion {
		return lent{}, nil
	}
	more := 0
	if how == misaligned {
		more = 1
	}
	b, err := source.Alloc(size + more)
	if err != nil {
		return lent{}, err
	}
	given := device.Block{Region: b.Region, Off: b.Off + more, Len: size}
	if how == tooShort {
		given.Len--
	}
	return lent{given, b}, nil
}
