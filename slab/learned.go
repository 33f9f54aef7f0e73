package slab

import (
	"github.com/bufslab/bufslab/internal/learned"
	"github.com/bufslab/bufslab/slab/internal/reserve"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A FileError says that a file that a Config names is there, but not what it should be. It
// has the File, and an Err that says what is wrong.
type FileError = learned.FileError

// knowledge is what a strategy learns from files before anything happens.
type knowledge struct {
	reserve reserve.Reserve
	plan    learned.Plan
	places  int // bytes that the plan has places in, as far as the bounds let it
}

// learn reads the files that c names. A plan with gaps counts as no plan.
func learn(c Config) (k knowledge, err error) {
	most := min(heldLimit(c.MaxHeld), heldLimit(c.MaxBytes))
	if k.plan, err = learned.PlanOf(c.Plan); err != nil {
		return k, err
	}
	if !k.plan.Dense() {
		k.plan = nil
	}
	k.places = int(min(k.plan.Bytes(), most, int64(upstream.MaxSize)))
	k.reserve, err = reserve.Of(c.Reserve, most)
	return k, err
}

// take has a strategy take the reserve. It returns what is to be called when the pool is closed, or nil.
func (k knowledge) take(strategy Allocator) (finish func() error, err error) {
	s, ok := numberedOf(strategy).(reserve.Strategy)
	if !ok {
		return nil, nil
	}
	return k.reserve.Finish(s), k.reserve.Take(s)
}
