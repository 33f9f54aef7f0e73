package slab

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// Call sites and leaks, kept where Config.Check, Strict or OnForget=report asks for them.

// A site says where a slot's last owner got its buffer and where it released it.
type site struct {
	got, gave string
	gen       uint64
	bytes     int
}

// A slotID names a slot without keeping it alive: tokens must be able to die.
type slotID uintptr

func (s *slot) id() slotID { return slotID(unsafe.Pointer(s)) }

// caller returns file:line of the first caller outside this package.
func caller() string {
	var pc [16]uintptr
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc[:])])
	for {
		f, more := frames.Next()
		if ours := strings.Contains(f.Function, "bufslab/slab.") && !strings.HasSuffix(f.File, "_test.go"); !ours || !more {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
}

func (k *core) got(b PooledBuffer) {
	at := caller()
	k.mu.Lock()
	k.sites[b.own.id()] = site{got: at, gen: b.gen, bytes: b.n}
	k.mu.Unlock()
}

func (k *core) gave(b PooledBuffer) {
	at := caller()
	k.mu.Lock()
	s := k.sites[b.own.id()]
	s.gave = at
	k.sites[b.own.id()] = s
	k.mu.Unlock()
}

// releasedTwice counts, and with Config.Strict panics.
func (k *core) releasedTwice(b PooledBuffer) error {
	k.doubles.Add(1)
	if !k.config.Strict {
		return ErrReleased
	}
	k.mu.Lock()
	s := k.sites[b.own.id()]
	k.mu.Unlock()
	first := s.gave
	if s.gen != b.gen {
		first = "an earlier owner's Release"
	}
	panic(fmt.Sprintf("slab: PooledBuffer released twice: at %s, before that at %s", caller(), first))
}

// reportLocked notes the site of a buffer that was forgotten.
func (k *core) reportLocked(s *slot) {
	if k.sites == nil {
		return
	}
	k.lost = append(k.lost, Leak{Bytes: int(s.asked.Load()), Site: k.sites[s.id()].got, Forgotten: true})
	delete(k.sites, s.id())
}

// A LeakError says that a pool was closed while buffers were out.
type LeakError struct {
	Blocks, Bytes int64  // active, bytes as asked for
	Leaks         []Leak // with Config.Check, Strict or OnForget=report
}

// A Leak is a buffer that was not released.
type Leak struct {
	Bytes     int
	Site      string // file:line of the Get
	Forgotten bool   // the collector has found it
}

func (e *LeakError) Error() string {
	s := fmt.Sprintf("slab: pool closed with %d buffers of %d bytes out", e.Blocks, e.Bytes)
	for _, l := range e.Leaks {
		s += fmt.Sprintf("\n\t%d bytes got at %s", l.Bytes, l.Site)
	}
	return s
}

func (k *core) leakError() error {
	s := k.stats()
	if s.ActiveBlocks == 0 {
		return nil
	}
	return &LeakError{Blocks: s.ActiveBlocks, Bytes: s.ActiveBytes, Leaks: k.leaks()}
}

// Leaks lists the buffers that are out, and after them those that were
// forgotten, with the place of their Get. It needs Config.Check, Strict or
// OnForget=report, else it is nil.
func (p *Pool) Leaks() []Leak { return p.c.leaks() }

func (k *core) leaks() []Leak {
	k.mu.Lock()
	defer k.mu.Unlock()
	var l []Leak
	for _, at := range k.sites {
		if at.gave == "" {
			l = append(l, Leak{Bytes: at.bytes, Site: at.got})
		}
	}
	slices.SortFunc(l, func(a, b Leak) int { return a.Bytes - b.Bytes })
	return append(l, k.lost...)
}
