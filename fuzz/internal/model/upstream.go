package model

import (
	"errors"
	"fmt"
	"sync"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// ErrInjected is a failure that is not a lack of room. No strategy knows it,
// so every strategy has to pass it on.
var ErrInjected = errors.New("fuzz: failure on command")

// An Upstream is the memory that a check puts beneath what it checks. It accounts for every byte
// that it gives, panics at misuse, and does wrong on command. It is safe for concurrent use,
// because goroutines of the runtime give back buffers that were forgotten.
type Upstream struct {
	upstreamtest.Pages
	mu    sync.Mutex // guards the rest
	asked int        // calls that ask for memory
	fault Fault
}

// open makes an upstream, with ranges of that size in bytes: 0 is none of its own.
func (u *Upstream) open(rangeBytes int) *Upstream {
	u.Before = u.before
	if u.RangeBytes = rangeBytes; rangeBytes == 0 {
		u.Ranges = -1
	}
	return u
}

// A Fault is what an upstream has been told to do wrong, once.
type Fault struct {
	Err    error               // of the calls that fail; nil if none does
	Breach upstreamtest.Breach // of the next block

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

// Arm tells the upstream what to do wrong.
func (u *Upstream) Arm(f Fault) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fault = f
	u.BreakWith(f.Breach)
}

// Disarm makes it honest again and reports whether it had done wrong.
func (u *Upstream) Disarm() (struck bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	broke := u.fault.Breach != u.BreakWith(0)
	struck, u.fault = u.fault.struck || broke, Fault{}
	return struck
}

// before returns the error of a call whose turn it is to fail.
func (u *Upstream) before(call string) error {
	if call != "Alloc" && call != "Reserve" && call != "Commit" {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked++
	f := &u.fault
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

// Accounts are what an upstream has seen so far.
type Accounts struct {
	upstreamtest.Accounts
	Calls int // that asked for memory
}

// Accounts returns the accounts of u.
func (u *Upstream) Accounts() Accounts {
	u.mu.Lock()
	defer u.mu.Unlock()
	return Accounts{u.Pages.Accounts(), u.asked}
}
