package slab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/bufslab/bufslab/slab/internal/budget"
)

// GetAll is [Pool.GetContext] for several buffers: it returns one of each size, in the order of sizes, or an error
// and nothing. It is one call in the queue, and keeps no buffer while it waits. So two calls that need two buffers
// each never wait for each other, as two that take one after the other may.
//
// A try takes one buffer after the other, the largest first, and releases all if there is no room for one of them. So
// a [Pool.Get] at that moment may find less room than there is. [Stats] counts Gets of tries that fail, and their
// Releases.
//
// The error is that of GetContext for the sum of sizes: a *[WaitError] with the sum as Size when ctx is done, and at
// once a *[LimitError] where the sum is more than a Limit can ever give. It wraps [ErrSize] if a size is negative,
// before anything is taken. Without sizes GetAll returns nothing and no error. A nil ctx is never done.
//
// For many equal buffers of one task GetAll is not the cheapest: one Get, cut by [PooledBuffer.Slice], is one block.
func (p *Pool) GetAll(ctx context.Context, sizes ...int) ([]PooledBuffer, error) {
	if !p.isOpened() {
		return nil, errNotOpened
	}
	defer runtime.KeepAlive(p) // as in Pool.get
	sum, err := sumOf(sizes)
	switch {
	case err != nil:
		return nil, err
	case p.pool.refuses():
		return nil, ErrClosed
	case len(sizes) == 0:
		return nil, nil
	}
	return p.pool.getAll(ctx, &several{pool: p.pool, sizes: sizes, sum: sum})
}

// sumOf returns the sum of sizes, at most the largest int.
func sumOf(sizes []int) (sum int, err error) {
	for i, n := range sizes {
		if n < 0 {
			return 0, fmt.Errorf("slab: GetAll of %d bytes, size %d of %d: %w", n, i+1, len(sizes), ErrSize)
		}
		sum += min(n, math.MaxInt-sum)
	}
	return sum, nil
}

// several are the buffers of one GetAll.
type several struct {
	pool  *pool
	sizes []int
	sum   int
	got   []PooledBuffer
}

func (p *pool) getAll(ctx context.Context, s *several) ([]PooledBuffer, error) {
	var at *budget.Budget
	var err error
	switch {
	case s.sum > maxAsk:
		return nil, p.tooMuch(s.sum)
	case s.sum > 0 && ctx != nil && ctx.Err() != nil:
		err := s.take(quickly)
		s.giveBack()
		return nil, p.doneBefore(ctx, s.sum, err)
	case s.sum == 0 || !p.isAwaited():
		if err = s.take(atOnce); !outOfMemory(err) {
			return s.got, err
		}
		at = p.refusing(err, s.sum)
	}
	err = p.waitInTurn(ctx, attempt{size: s.sum, several: true, try: func() error { return s.take(again) }}, at, err)
	p.fail(err)
	return s.got, err
}

// take gets all buffers, or none, also if the upstream panics.
func (s *several) take(how effort) error {
	s.got = make([]PooledBuffer, len(s.sizes))
	done := 0
	defer func() {
		if done < len(s.sizes) {
			s.giveBack()
			s.pool.waits.undone.Add(int64(done))
		}
	}()
	order := make([]int, len(s.sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(s.sizes[j], s.sizes[i]) })
	for _, i := range order {
		b, err := s.pool.getNow(s.sizes[i], how)
		if err != nil {
			return err
		}
		s.got[i] = b
		done++
	}
	return nil
}

// giveBack releases what was got.
func (s *several) giveBack() {
	list := s.got
	s.got = nil
	for _, b := range list {
		b.discard()
	}
}
