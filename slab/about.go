package slab

import "github.com/bufslab/bufslab/device"

// Name returns Config.Name. Where Config.Name is empty, it returns the line of the Config, with the
// device that the pool was opened on. Errors, logs and metrics of the pool carry the name: give each
// pool of a program a name where two pools have the same line.
func (p *Pool) Name() string { return p.opened().config.Name }

// Device returns the device whose memory the pool hands out. It is nil for an Allocator whose device
// is not known, and for a nil or zero Pool. The pool closes the device only where [OpenConfig]
// opened both.
func (p *Pool) Device() device.Device {
	if !p.isOpened() {
		return nil
	}
	return deviceOf(p.pool.upstream)
}

// Closed reports whether Close was called.
func (p *Pool) Closed() bool { return p.opened().closed.Load() }

// Explain explains the pool's Config as [Config.Explain] does, and adds the traits of the
// opened device: the alignment that it needs, and a warning if it is deferred (see
// [device.Traits]).
func (p *Pool) Explain() string { return p.opened().config.given.Explain() }
