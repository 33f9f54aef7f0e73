// Package allocators checks strategies: a model holds which blocks are out, and
// what their owners wrote.
package allocators

import (
	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// Property is the property of the strategies that factory makes.
func Property(factory func(upstream slab.Allocator) slab.Allocator, s model.Settings) func(*rapid.T) {
	return func(t *rapid.T) {
		up, dev := s.Open(t)
		m := &allocatorModel{Settings: s, up: up, bytes: model.Contents{Dev: dev}}
		m.strategy = factory(up.View())
		model.Repeat(t, m.actions())
		m.end(t)
		if dev != nil {
			model.OK(t, dev.Close())
		}
	}
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
