// Package unifiedbuffers checks buffers with a host and a device side: a model
// holds for each element what it is, and on which side it is current.
package unifiedbuffers

import (
	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// Property is the property of the buffers that buffer makes on devices that
// open makes.
func Property(
	open func() (device.Device, error), buffer func(dev device.Device, n int) (Buffer, error),
) func(*rapid.T) {
	return func(t *rapid.T) {
		d, err := open()
		model.OK(t, err)
		m := &unifiedModel{dev: d, open: buffer}
		m.sim, _ = d.(simulated)
		m.begin(t)
		model.Repeat(t, m.actions())
		m.end(t)
	}
}

func (m *unifiedModel) actions() map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){
		"":            m.check,
		"readHost":    m.readHost,
		"writeHost":   m.writeHost,
		"overHost":    m.overwriteHost,
		"replace":     m.replace,
		"readDevice":  m.readDevice,
		"writeDevice": m.writeDevice,
		"sync":        m.sync,
		"markHost":    m.markHost,
		"markDevice":  m.markDevice,
		"renew":       m.renew,
		"settle":      m.settle,
	}
	if m.sim != nil {
		all["fail"] = m.fail
		all["lose"] = m.lose
	}
	return all
}
