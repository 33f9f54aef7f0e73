package fuzz

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/slab"
)

// CheckPool runs random programs on pools that open makes over an upstream of
// the check's own, or over a device with [OnDevice], a new one for each
// program. Buffers are got, written, looked at by every way there is, released,
// released again by copies and stale handles, and released while in use;
// memory is given back and holding stopped. On a device that has contents, streams
// write to buffers that are released before they are done. The upstream has no room, fails and breaks
// its contract. What [slab.Pool] promises has to hold after every step: the
// figures of Stats add up and agree with the model's and the upstream's, no
// two buffers overlap, and each holds what its owner wrote. At the end the
// pool is closed, with buffers still out.
//
// Forgotten buffers are not checked here: when they come back is the
// collector's affair.
func CheckPool(t *testing.T, open func(upstream slab.Allocator) (*slab.Pool, error), options ...Option) {
	t.Helper()
	rapid.Check(t, PoolProperty(open, options...))
}

// PoolProperty is the property behind [CheckPool], for a native fuzz target:
//
//	func FuzzPool(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.PoolProperty(open))) }
func PoolProperty(open func(upstream slab.Allocator) (*slab.Pool, error), options ...Option) func(*rapid.T) {
	s := settle(options)
	return func(t *rapid.T) {
		up, dev, view := s.open(t)
		m := &poolModel{settings: s, up: up, bytes: newContents(t, dev)}
		m.solid = dev == nil || (&deviceModel{dev: dev, heap: m.bytes.heap}).hasContents(t)
		p, err := open(view)
		ok(t, err)
		m.pool = p
		t.Repeat(m.actions())
		m.close(t)
		if dev != nil {
			ok(t, dev.Close())
		}
	}
}

func (m *poolModel) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":              m.check,
		"get":           m.get,
		"getMore":       m.get, // twice as likely as the rest
		"getZeroed":     m.getZeroed,
		"getBad":        m.getBad,
		"getFails":      m.getFails,
		"getBreach":     m.getBreach,
		"release":       m.releaseOne,
		"releaseMore":   m.releaseOne,
		"releaseAll":    m.releaseAll,
		"releaseAgain":  m.releaseAgain,
		"releaseWithin": m.releaseWithin,
		"look":          m.look,
		"freeHeld":      m.freeHeld,
		"trim":          m.trim,
		"stopHolding":   m.stopHolding,
		"use":           m.use,
		"useMore":       m.use,
		"getOn":         m.getOn,
		"releaseBusy":   m.releaseBusy,
		"settle":        m.settle,
	}
}
