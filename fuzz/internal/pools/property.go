// Package pools checks a slab.Pool: a model holds which buffers are out, what
// their owners wrote, and which stream still writes to them.
package pools

import (
	"regexp"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// Property is the property of the pools that open makes.
func Property(open func(upstream slab.Allocator) (*slab.Pool, error), s model.Settings) func(*rapid.T) {
	return s.Program(func(t *rapid.T, b model.Base) (map[string]func(*rapid.T), func(*rapid.T)) {
		p, err := open(b.Up.View())
		model.OK(t, err)
		m := &poolModel{Base: b, pool: p, solid: b.Bytes.Solid(t), holder: isHolder(t, p), makes: makesPlain(p),
			strict: isStrict(p), bound: newBound(b.MaxBytes)}
		return m.actions(), m.close
	})
}

// isHolder reports whether the strategy of a pool gives back what it holds: that is optional. The pool
// has no method that tells, so it is asked of another one of the name.
func isHolder(t *rapid.T, p *slab.Pool) bool {
	named := regexp.MustCompile(`(?m)^strategy +(\S+)`).FindStringSubmatch(p.Explain())
	if named == nil {
		t.Fatalf("a pool does not explain its strategy: %s", p.Explain())
	}
	nowhere, err := device.Open("virtual")
	model.OK(t, err)
	s, err := slab.NewStrategy(named[1], nowhere, slab.Config{})
	model.OK(t, err)
	_, is := s.(slab.Holder)
	return is
}

// isStrict reports whether a second Release panics.
func isStrict(p *slab.Pool) bool {
	return regexp.MustCompile(`(?m)^strict +true`).MatchString(p.Explain())
}

func (m *poolModel) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":           m.check,
		"get":        m.get,
		"getMore":    m.get, // twice as likely as the rest
		"getContext": m.getContext,
		"getAll":     m.getAll, "getBytes": m.getBytes, "setMaxBytes": m.setMaxBytes,
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
		"grow":          m.grow,
		"growMuch":      m.growMuch,
		"growFails":     m.growFails,
		"growStale":     m.growStale,
		"slice":         m.slice,
		"share":         m.share,
		"ref":           m.ref,
		"resolve":       m.resolve,
		"refStale":      m.refStale,
		"write":         m.write,
		"sliceBad":      m.sliceBad,
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
