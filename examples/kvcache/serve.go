package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

// A cost is what it took to serve all sequences.
type cost struct {
	time, longest          time.Duration // of all steps, and of one
	grown, copies          int           // how often a cache grew, and with a copy
	copied                 int           // bytes
	peakLive, peakResident int
}

// A slot serves one sequence at a time, token by token.
type slot struct {
	sequence
	id, tokens, rest int
	all              []byte
}

// serve serves sequences of so many tokens: a token for each of them in turn.
func serve(lengths []int, start func() sequence) (c cost, err error) {
	debug.FreeOSMemory() // of the line that was measured before
	before := resident()
	var slots [atOnce]slot
	for busy := true; busy; {
		busy = false
		live := 0
		for i := range slots {
			s := &slots[i]
			if s.rest == 0 && len(lengths) > 0 {
				*s = slot{sequence: start(), id: len(lengths), rest: lengths[0]}
				lengths = lengths[1:]
			}
			if s.rest == 0 {
				continue
			}
			busy = true
			if err := c.step(s); err != nil {
				return c, err
			}
			live += len(s.all)
		}
		c.peakLive, c.peakResident = max(c.peakLive, live), max(c.peakResident, resident()-before)
		for i := range slots {
			if err := slots[i].finish(); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// step adds a token to a sequence.
func (c *cost) step(s *slot) error {
	from := time.Now()
	all, err := s.extend(tokenBytes)
	if err != nil {
		return err
	}
	writeToken(all[len(s.all):], s.id, s.tokens)
	took := time.Since(from)

	if len(s.all) > 0 {
		c.grown++
		if &all[0] != &s.all[0] {
			c.copies++
			c.copied += len(s.all)
		}
	}
	c.time += took
	c.longest = max(c.longest, took)
	s.all = all
	s.tokens++
	s.rest--
	return nil
}

// finish looks at a sequence that has ended, and gives its memory back.
func (s *slot) finish() error {
	if s.rest > 0 || s.all == nil {
		return nil
	}
	var want [tokenBytes]byte
	for i := range s.tokens {
		writeToken(want[:], s.id, i)
		if !bytes.Equal(s.all[i*tokenBytes:][:tokenBytes], want[:]) {
			return errors.Join(fmt.Errorf("token %d of sequence %d is not what was written", i, s.id), s.release())
		}
	}
	s.all = nil
	return s.release()
}

// writeToken stands in for what a model computes.
func writeToken(m []byte, sequence, token int) {
	for i := 0; i < len(m); i += 8 {
		binary.LittleEndian.PutUint64(m[i:], uint64(sequence)<<40|uint64(token)<<20|uint64(i))
	}
}

// resident returns the memory that the program has of the system, or 0 where it is not Linux.
func resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	fmt.Sscan(string(text), &size, &pages)
	return pages * os.Getpagesize()
}
