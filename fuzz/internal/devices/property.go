// Package devices checks a device.Device: a model holds what every byte of its
// blocks and committed pages must be, and which stream still writes to it.
package devices

import (
	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// Property is the property of the devices that open makes.
func Property(open func() (device.Device, error)) func(*rapid.T) {
	return func(t *rapid.T) {
		d, err := open()
		model.OK(t, err)
		m := &deviceModel{dev: d}
		defer m.close(t)
		m.contents = model.Contents{Dev: d}.Solid(t)
		m.reserve(t)
		model.Repeat(t, m.actions())
	}
}

func (m *deviceModel) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":             m.check,
		"alloc":        m.alloc,
		"free":         m.free,
		"write":        m.write,
		"poke":         m.poke,
		"copy":         m.copy,
		"copyUnequal":  m.copyUnequal,
		"memInfo":      m.memInfo,
		"fill":         m.fill,
		"commit":       m.commit,
		"decommit":     m.decommit,
		"misuse":       m.misuse,
		"enqueueFill":  m.enqueueFill,
		"enqueueWrite": m.enqueueWrite,
		"enqueueCopy":  m.enqueueCopy,
		"settle":       m.settle,
		"poll":         m.poll,
	}
}
