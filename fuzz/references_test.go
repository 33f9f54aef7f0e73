package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// leases lend arrays of a growpool.Pool.
type leases struct {
	below *slab.Pool
	pool  *growpool.Pool[int]
}

func openLeases(line string, c growpool.Config) func() (lender, error) {
	return func() (lender, error) {
		config, err := slab.ParseConfig(line)
		if err != nil {
			return nil, err
		}
		below, err := slab.OpenConfig(config)
		if err != nil {
			return nil, err
		}
		return leases{below, growpool.New[int](below, c)}, nil
	}
}

func (l leases) Get(key, n int) (holder, error) {
	x, err := growpool.Acquire[byte](model.NewImpatient(), l.pool, key, n)
	if errors.Is(err, context.Canceled) {
		return nil, nil // it is leased
	}
	return lease{x}, err
}

func (leases) Open(text string) (holder, error) {
	var r growpool.Ref[byte]
	if err := r.UnmarshalText([]byte(text)); err != nil {
		return nil, err
	}
	x, err := r.Get()
	return lease{x}, err
}

func (l leases) Close(out int) error {
	defer l.below.Close()
	if err := l.pool.Close(); (err != nil) != (out > 0) {
		return fmt.Errorf("Close with %d leases out: %v", out, err)
	}
	return nil
}

type lease struct{ *growpool.Lease[byte] }

func (l lease) Bytes() ([]byte, error) { return l.Slice(), nil }

func (l lease) Text() string {
	if r := l.Ref(); r != (growpool.Ref[byte]{}) {
		return r.String()
	}
	return ""
}

// twins lend unified buffers of a Pool, in their states: the device side has what was written before the
// last synchronization.
type twins struct{ pool *unified.Pool }

func openTwins() (lender, error) {
	return twins{unified.NewPool(sim.New(1<<24), unified.PoolConfig{MaxBuffers: 2})}, nil
}

func (w twins) Get(_, n int) (holder, error) {
	b, err := unified.Acquire[byte](w.pool, n)
	return twin{b}, err
}

func (twins) Open(text string) (holder, error) {
	var r unified.Ref[byte]
	if err := r.UnmarshalText([]byte(text)); err != nil {
		return nil, err
	}
	b, err := r.Get()
	return twin{b}, err
}

func (w twins) Close(int) error { w.pool.StopHolding(); return nil }

type twin struct{ *unified.Buffer[byte] }

func (w twin) Bytes() ([]byte, error) { return w.HostMut() }

func (w twin) Text() string {
	if r := w.Ref(); r != (unified.Ref[byte]{}) {
		return r.String()
	}
	return ""
}

// referenceProgram is a program on one of the lenders.
func referenceProgram(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "lender") {
	case 0:
		referenceProperty(openLeases("device=heap", growpool.Config{}), slab.ErrReleased)(t)
	case 1:
		referenceProperty(openLeases("device=mmap", growpool.Config{MaxBytes: 1 << 16}), slab.ErrReleased)(t)
	case 2:
		referenceProperty(openLeases("device=mmap,strategy=exact", growpool.Config{Private: true}), slab.ErrReleased)(t)
	default:
		referenceProperty(openTwins, slab.ErrReleased)(t)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	model.Check(t, referenceProgram)
}

func FuzzReferences(f *testing.F) { f.Fuzz(rapid.MakeFuzz(referenceProgram)) }

// forgetful opens a text although what it names was released.
type forgetful struct {
	lender
	all map[string]holder
}

func (f forgetful) Get(key, n int) (holder, error) {
	h, err := f.lender.Get(key, n)
	if h != nil && err == nil {
		f.all[h.Text()] = h
	}
	return h, err
}

func (f forgetful) Open(text string) (holder, error) {
	if h := f.all[text]; h != nil {
		return h, nil // not a holder of its own
	}
	return f.lender.Open(text)
}

// A lender whose references open what was released is found.
func TestAReferenceThatOpensTooMuchIsFound(t *testing.T) {
	quick(t)
	open := func() (lender, error) {
		l, err := openTwins()
		return forgetful{l, map[string]holder{}}, err
	}
	if text := verdict(t, referenceProperty(open, slab.ErrReleased)); text == "" {
		t.Error("no fault was found")
	}
}
