package slab

import (
	"fmt"
	"math"
	"sync"

	"github.com/bufslab/bufslab/internal/learned"
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/pageheap"
	"github.com/bufslab/bufslab/slab/internal/reserve"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// NewStrategy returns the named strategy, one of [Strategies], over upstream. A registered
// strategy is returned as its function has opened it. NewStrategy reads the fields of c that
// are meant for that strategy, and aligns blocks at least as the upstream's device needs. An
// unknown name or a fault of c gives a *ConfigError before anything happens. NewStrategy takes
// Config.Reserve as [Open] does, but writes no peak.
//
// Strategies are safe for concurrent use if their upstream is. Each built-in strategy is a
// [UsageReporter], a [Holder] and a [Trimmer].
//
// If the upstream's Free panics, a strategy holds the block, whatever its bounds, and
// tries again in its next FreeHeld. Only direct does not know its active blocks: there the
// block stays active, and may be freed again.
func NewStrategy(name string, upstream Allocator, c Config) (Allocator, error) {
	if name == "" {
		return nil, configError([]string{"strategy=: want a name"})
	}
	if upstream == nil {
		return nil, fmt.Errorf("%w: strategy %s has none", ErrUpstream, name)
	}
	c.Strategy = name
	if err := c.Validate(); err != nil {
		return nil, err
	}
	k, err := learn(c)
	if err != nil {
		return nil, err
	}
	s := newStrategy(checked(upstream, 1), c.forStrategy(name, upstream), front{})
	if _, err := k.take(s); err != nil {
		return nil, err
	}
	return s, nil
}

// newStrategy builds the strategy that c names. c is valid and has its defaults. Strategies
// are interchangeable: to change the name is enough.
func newStrategy(up upstream.Checked, c Config, f front) Allocator {
	if r := rowOf(c.Strategy); r.open != nil {
		return r.open(up, c, f)
	}
	return openRegistered(up, c) // Validate has seen to it that there is one
}

// freelistOptions are the bounds of c on a free list, and the help of the pool.
func freelistOptions(c Config, f front) freelist.Options {
	o := freelist.Options{Processor: f.processor, MaxBytes: heldLimit(c.MaxHeld), MaxBlocks: c.MaxHeldBlocks,
		MaxBlockBytes: c.MaxBlockBytes}
	switch {
	case o.MaxBlocks == 0:
		o.MaxBlocks = math.MaxInt
	case o.MaxBlocks < 0:
		o.MaxBlocks = 0
	}
	if o.MaxBlockBytes <= 0 {
		o.MaxBlockBytes = noLimit
	}
	return o
}

// A front has the help that a pool gives its strategy. The zero front gives none.
type front struct {
	gets       func() int64
	lock       *sync.Mutex
	beforePeak func() // empties the pool's caches, if nobody does so now
	processor  func() int
}

// heapOptions are the options of a page heap: fields of c, and the help of the pool.
func heapOptions(c Config, f front) pageheap.Options {
	o := pageheap.Options{Align: c.Align, MissTarget: c.MissTarget, Locked: c.traits.locked,
		MaxHeld: heldLimit(c.MaxHeld)}
	if f.lock != nil {
		o.Gets, o.Lock, o.BeforePeak, o.Processor = f.gets, f.lock, f.beforePeak, f.processor
		o.Numbered = !c.Check // else Check frees by address
	}
	return o
}

// knowledge is read from a file before anything happens.
type knowledge struct {
	reserve reserve.Reserve
	budget  int64
	asked   string // Config.Reserve
}

// learn reads the file that c names.
func learn(c Config) (k knowledge, err error) {
	most := min(heldLimit(c.MaxHeld), heldLimit(c.MaxBytes))
	k.budget, k.asked = heldLimit(c.MaxBytes), c.Reserve
	k.reserve, err = reserve.Of(c.Reserve, most)
	return k, fileError(err)
}

// fileError is err as a *FileError of this package.
func fileError(err error) error {
	if f, ok := err.(*learned.FileError); ok {
		return &FileError{f.File, f.Err}
	}
	return err
}

// take has a strategy take the reserve. finish, if not nil, is called when the pool is closed.
func (k knowledge) take(strategy Allocator) (finish func() error, err error) {
	s, ok := numberedOf(strategy).(reserve.Strategy)
	if !ok {
		return nil, nil
	}
	err = k.reserve.Take(s, k.budget)
	if err == reserve.ErrStrands {
		err = &ConfigError{[]string{fmt.Sprintf("reserve=%s: %v", k.asked, err)}}
	}
	return k.reserve.Finish(s), err
}
