package main

import (
	"encoding/binary"
	"errors"
	"sync"
)

const (
	subscribers = 3
	backlog     = 256 // messages that wait for one
	stamp       = 8   // bytes at both ends of a message
)

// broker has two publishers, which receive batches of messages in one block of 64 to 512 KiB,
// cut it, and hand each message to all subscribers. The block goes back with the last of them.
func broker(j *job) error {
	queues := make([]chan block, subscribers)
	failed := make([]error, subscribers)
	var all sync.WaitGroup
	for i := range queues {
		queues[i] = make(chan block, backlog)
		all.Go(func() { failed[i] = j.subscribe(queues[i]) })
	}
	err := j.each(2, func(c *client) error { return j.publish(c, queues) })
	for _, q := range queues {
		close(q)
	}
	all.Wait()
	return errors.Join(append(failed, err)...)
}

func (j *job) publish(c *client, queues []chan block) error {
	batch, err := j.get(between(c.Rand, 64<<10, 512<<10))
	if err != nil {
		return err
	}
	copy(batch.bytes, some(noise(), c.Rand, len(batch.bytes)))
	for at := 0; len(batch.bytes)-at >= 2*stamp; {
		n := min(between(c.Rand, 1<<10, 24<<10), len(batch.bytes)-at)
		if n < 2*stamp {
			break
		}
		if err := j.fanOut(batch, at, at+n, queues); err != nil {
			return err
		}
		at += n
	}
	return j.put(batch)
}

// fanOut stamps a message, and gives each queue an owner of it.
func (j *job) fanOut(batch block, from, to int, queues []chan block) error {
	binary.LittleEndian.PutUint64(batch.bytes[from:], uint64(to-from))
	binary.LittleEndian.PutUint64(batch.bytes[to-stamp:], uint64(to-from))
	m, err := j.part(batch, from, to)
	if err != nil {
		return err
	}
	for _, q := range queues[1:] {
		shared, err := j.share(m)
		if err != nil {
			return err
		}
		q <- shared
	}
	queues[0] <- m
	return nil
}

// subscribe looks at messages. It takes all, so that no publisher waits for good.
func (j *job) subscribe(queue <-chan block) (failed error) {
	for m := range queue {
		n := uint64(len(m.bytes))
		first, last := binary.LittleEndian.Uint64(m.bytes), binary.LittleEndian.Uint64(m.bytes[n-stamp:])
		if failed == nil && (first != n || last != n) {
			failed = wrong([2]uint64{first, last}, n)
		}
		failed = errors.Join(failed, j.put(m))
	}
	return failed
}
