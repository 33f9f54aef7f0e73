package main

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// A job is a program's work: so many operations with one kind of memory.
type job struct {
	memory
	ops  int
	live live

	mu    sync.Mutex
	times []time.Duration // of operations
}

// A client is one goroutine of a program, and what is its own.
type client struct {
	number int
	*rand.Rand
	live live
}

// newClient returns client i of n. All runs of a program draw the same numbers.
func (j *job) newClient(i, n int) *client {
	part := len(j.live) / n
	return &client{i, rand.New(rand.NewPCG(uint64(i), 11)), j.live[i*part : (i+1)*part]}
}

// clients has n goroutines do the operations, and times each. What start returns is one
// goroutine's operation, so that it can have state. The first error ends a goroutine.
func (j *job) clients(n int, start func(c *client) (op func() error, end func() error, err error)) error {
	var all sync.WaitGroup
	failed := make([]error, n)
	for i := range n {
		all.Go(func() { failed[i] = j.client(j.newClient(i, n), (j.ops+n-1-i)/n, start) })
	}
	all.Wait()
	return errors.Join(failed...)
}

func (j *job) client(c *client, ops int, start func(*client) (op, end func() error, err error)) error {
	op, end, err := start(c)
	if err != nil {
		return err
	}
	times := make([]time.Duration, 0, ops)
	for range ops {
		begin := time.Now()
		if err := op(); err != nil {
			return errors.Join(err, end())
		}
		c.live.change(c.Rand)
		times = append(times, time.Since(begin))
	}
	j.took(times...)
	return end()
}

// each is clients whose operation has no state.
func (j *job) each(n int, op func(c *client) error) error {
	return j.clients(n, func(c *client) (func() error, func() error, error) {
		return func() error { return op(c) }, func() error { return nil }, nil
	})
}

// took notes how long operations took.
func (j *job) took(times ...time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.times = append(j.times, times...)
}
