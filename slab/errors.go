package slab

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

var (
	// ErrSize says that a size is negative or too large to be represented.
	ErrSize = device.ErrSize
	// ErrReleased says that a buffer was released before, by this handle or a copy of it.
	ErrReleased = errors.New("slab: PooledBuffer released already")
	// ErrForeign says that a slice is no buffer that the pool has out.
	ErrForeign = errors.New("slab: the slice begins no buffer of this pool that is out")
	// ErrParts says that a buffer has as many parts as it can have.
	ErrParts = errors.New("slab: PooledBuffer with too many parts")
	// ErrClosed says that the pool was closed.
	ErrClosed = errors.New("slab: pool closed")
	// ErrUpstream says that an upstream broke the contract of Allocator.
	ErrUpstream = upstream.ErrUpstream
)

// maxAsk is the most bytes that are asked of an upstream at a time.
const maxAsk = upstream.MaxSize

// outOfMemory reports whether err says that there was no room.
func outOfMemory(err error) bool { return upstream.OutOfMemory(err) }

// What a leakLog does about calls that are mistakes.

// releasedTwice counts, tells Hooks, and with Config.Strict panics.
func (l *leakLog) releasedTwice(b PooledBuffer) error {
	l.doubles.Add(1)
	l.hooks.doubleRelease(l.pool, b.n)
	if !l.strict {
		return ErrReleased
	}
	l.mu.Lock()
	s := l.sites[b.slot.ID()]
	l.mu.Unlock()
	first := s.released
	switch {
	case b.slot.IsPart():
		first = "a place that is not kept for parts"
	case s.gen != b.gen:
		first = "an earlier owner's Release"
	case first == "":
		first = "a place not known yet, as a part or a call of With has the memory"
	}
	panic(fmt.Sprintf("slab: PooledBuffer released twice: at %s, before that at %s", caller(), first))
}

// putForeign counts a Put of what is no buffer that is out, and with Config.Strict panics.
func (l *leakLog) putForeign(b []byte) error {
	l.foreign.Add(1)
	if l.strict {
		panic(fmt.Sprintf("slab: Put of %d bytes that begin no buffer of this pool that is out, at %s", cap(b), caller()))
	}
	return ErrForeign
}
