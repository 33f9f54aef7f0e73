package fuzz

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// CheckAllocator runs random programs on strategies that factory makes over an
// upstream of the check's own, a new one for each program. What the
// documentation of [slab.Allocator] promises has to hold throughout, the more
// so when the upstream has no room or fails, and when the program frees what it
// must not: blocks never overlap and keep what their owner wrote, failures
// change nothing, misuse panics and leaves everything intact.
//
// What only some strategies have is checked where the strategy has it: the
// figures of a [slab.User] against the model's and the upstream's, and what a
// [slab.Holder] or [slab.Trimmer] gives back. An Alloc that fails and then
// succeeds after FreeHeld is a fault: out of memory there has to be none while
// memory is held.
//
// Strategies over others are checked like any, as long as they answer for the whole:
// Usage has to tell of all that the upstream gave, FreeHeld to reach it.
func CheckAllocator(t *testing.T, factory func(upstream slab.Allocator) slab.Allocator, options ...Option) {
	t.Helper()
	rapid.Check(t, AllocatorProperty(factory, options...))
}

// AllocatorProperty is the property behind [CheckAllocator], for a native fuzz target:
//
//	func FuzzMine(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.AllocatorProperty(factory))) }
func AllocatorProperty(factory func(upstream slab.Allocator) slab.Allocator, options ...Option) func(*rapid.T) {
	s := settle(options)
	return func(t *rapid.T) {
		up, dev, view := s.open(t)
		m := &allocatorModel{settings: s, up: up, bytes: newContents(t, dev)}
		m.strategy = factory(view)
		t.Repeat(m.actions())
		m.end(t)
		if dev != nil {
			ok(t, dev.Close())
		}
	}
}

// open makes the upstream of a program. dev is nil unless memory comes from a
// device; view is the upstream as the strategy is to see it.
func (s settings) open(t *rapid.T) (up *upstream, dev device.Device, view slab.Allocator) {
	capacity := s.drawCapacity(t)
	if s.device != nil {
		dev, err := s.device()
		ok(t, err)
		up = newUpstream(dev, capacity)
		return up, dev, deviceUpstream{dev, up}
	}
	m := &memory{align: s.align}
	if rapid.SampledFrom(s.ranges).Draw(t, "ranges") {
		m.ranges = max(4*s.maxSize, 16*pageBytes)
	}
	up = newUpstream(m, capacity)
	return up, nil, up
}

func (m *allocatorModel) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":            m.check,
		"alloc":       m.alloc,
		"allocMore":   m.alloc, // twice as likely as the rest
		"allocBad":    m.allocBad,
		"allocFails":  m.allocFails,
		"allocBreach": m.allocBreach,
		"free":        m.free,
		"freeMore":    m.free,
		"freeAll":     m.freeAll,
		"misuse":      m.misuse,
		"look":        m.look,
		"freeHeld":    m.freeHeld,
		"trim":        m.trim,
		"stopHolding": m.stopHolding,
	}
}
