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
	return s.Program(func(_ *rapid.T, b model.Base) (map[string]func(*rapid.T), func(*rapid.T)) {
		b.Alone = true
		m := &allocatorModel{Base: b, strategy: factory(b.Up.View())}
		return m.actions(), m.end
	})
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
