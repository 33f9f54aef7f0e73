package slab

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"
)

// watchedLines are the lines whose pools are watched while they are new and in use.
var watchedLines = []string{
	"", "device=mmap", "strategy=exact", "device=mmap,strategy=bestfit", "device=mmap,strategy=slab", "strategy=bitlog",
	"device=mmap,strategy=bestfit,reserve=64MiB", "device=mmap,strategy=bestfit,cache_bytes=0,max_bytes=1GiB",
	"device=mmap,guard=100,profile_rate=4KiB,on_forget=report", "record_last=1000", "device=mmap,check=true",
}

// Every method may be called beside every other: nothing panics, and the counters add up at
// the end. The race detector's build has locks that others lack, so this has to hold without.
func TestMethodsBesideOwners(t *testing.T) {
	for _, line := range watchedLines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			for i := range bounded(t, 1000, 100*time.Millisecond) {
				watched(t, openLine(t, line), i)
			}
		})
	}
}

// watched uses a new pool by two goroutines, while two call what looks at it or empties it.
func watched(t *testing.T, p *Pool, round int) {
	var owners, watchers sync.WaitGroup
	done := make(chan struct{})
	for first, calls := range [][]func(){lookers(t, p), emptiers(p)} {
		watchers.Go(func() {
			for i := first + round; ; i++ {
				select {
				case <-done:
					return
				default:
					calls[i%len(calls)]()
				}
			}
		})
	}
	for range 2 {
		owners.Go(func() { own(t, p) })
	}
	owners.Wait()
	close(done)
	watchers.Wait()
	checkNoneOut(t, p)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	checkNothing(t, p)
}

func lookers(t *testing.T, p *Pool) []func() {
	return []func(){
		func() {
			s := p.Stats()
			if s.HeldBytes < 0 || s.ActiveBlocks < 0 || s.ActiveBytes < 0 || s.ManagedBytes < 0 || s.Hits < 0 {
				t.Errorf("%+v", s)
			}
		},
		func() { p.Fragmentation() },
		func() { p.Leaks() },
		func() { p.Explain() },
		func() {
			for m := range p.Metrics() {
				_ = m.Value
			}
		},
		func() { _ = p.WriteProfile(io.Discard) },
		func() { _ = p.WriteRecord(io.Discard) },
		func() { _, _ = p.Lookup(make([]byte, 8)) },
		func() { p.GuardFault(8) },
		func() { _ = fmt.Sprint(p.Name(), p.Closed(), p.Device()) },
	}
}

func emptiers(p *Pool) []func() {
	return []func(){
		p.FreeHeld, func() { p.Trim(0) }, func() { p.Trim(1) }, p.Offer, p.ResetPeaks, p.StopHolding,
	}
}

// own gets and releases buffers in each of the ways that there are.
func own(t *testing.T, p *Pool) {
	var live []PooledBuffer
	for size := 1; size <= 100<<10; size += size/3 + 1 {
		for range 3 {
			b := mustGet(t, p, size)
			if grown, err := b.Grow(size + size/2); err == nil {
				b = grown
			}
			live = append(live, b)
			s, err := p.GetBytes(size)
			if err != nil {
				t.Error(err)
			}
			if err := p.Put(s); err != nil {
				t.Error(err)
			}
			if shared, err := b.Share(); err == nil {
				mustRelease(t, shared)
			} else {
				t.Error(err)
			}
		}
	}
	releaseAll(t, live)
}
