package fuzz

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// CheckGrowPool runs random programs on pools of keyed buffers that open makes
// over a slab.Pool of the check's own, with a strategy that is drawn, or over
// a device with [OnDevice]; a new one for each program. Keys are asked for
// with several element types and shapes, written, leased and cleared; bad shapes and
// types are tried; the memory below has no room or fails. What package growpool promises has to
// hold after every step: hits, misses and grows are counted one by one, a hit shows the
// memory as it was last written, a view has the length, the shape and the alignment that were
// asked for, what a stale view shows is nobody else's, and the figures of
// memory agree with the slab.Pool's.
//
// With [MaxBytes] keys may lose their buffers at any time, and no more than so many
// bytes may be held. MaxSize is 8 KiB unless it is set to less.
func CheckGrowPool(t *testing.T, open func(*slab.Pool) *growpool.Pool[string], options ...Option) {
	t.Helper()
	rapid.Check(t, GrowPoolProperty(open, options...))
}

// GrowPoolProperty is the property behind [CheckGrowPool], for a native fuzz target:
//
//	func FuzzGrowPool(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.GrowPoolProperty(open))) }
func GrowPoolProperty(open func(*slab.Pool) *growpool.Pool[string], options ...Option) func(*rapid.T) {
	s := settle(options)
	s.maxSize = min(s.maxSize, 8<<10) // of larger ones the collector may tell at any time
	return func(t *rapid.T) {
		up, dev, upstream := s.open(t)
		strategy := rapid.SampledFrom(slab.Strategies()).Draw(t, "strategy")
		below, err := slab.Open(upstream, slab.Config{Strategy: strategy})
		ok(t, err)
		m := &growModel{settings: s, up: up, below: below, pool: open(below), keys: map[string]*grown{}}
		m.bounded = s.maxBytes < math.MaxInt64
		m.exact = dev == nil
		for _, key := range []string{"coeff", "coeff_grad", "E_tilda_lm", ""} {
			m.keys[key] = &grown{}
		}
		t.Repeat(m.actions())
		m.close(t)
		if dev != nil {
			ok(t, dev.Close())
		}
	}
}

func (m *growModel) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":             m.check,
		"get":          m.get,
		"getMore":      m.get, // twice as likely as the rest
		"getBad":       m.getBad,
		"getFails":     m.getFails,
		"acquire":      m.acquire,
		"acquireFails": m.acquireFails,
		"release":      m.release,
		"clear":        m.clear,
		"clearStats":   m.clearStats,
	}
}
