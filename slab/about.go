package slab

import "github.com/bufslab/bufslab/device"

// Name returns Config.Name, and where that is empty the line of the Config, with the device
// that the pool was opened on. It is in the pool's errors and logs, and the label of its
// metrics: give each pool of a program a name where two have the same line.
func (p *Pool) Name() string { return p.opened().config.Name }

// Device returns the device whose memory the pool hands out, or nil where it draws on
// an Allocator of which that is not known, and of a nil or zero Pool. The pool closes it
// only where [OpenConfig] opened both.
func (p *Pool) Device() device.Device {
	if !p.isOpened() {
		return nil
	}
	return deviceOf(p.pool.upstream)
}

// Closed reports whether Close was called.
func (p *Pool) Closed() bool { return p.opened().closed.Load() }

// Explain explains the pool's Config as [Config.Explain] does, with what the
// opened device has told: the alignment that it needs, and a warning if it is
// deferred (see [device.Traits]).
func (p *Pool) Explain() string { return p.opened().config.given.Explain() }

// Step marks the beginning of a step of the program: an iteration that asks for much the
// same buffers as the last one. With strategy plan the hints of the next step begin then,
// and those of the last one that was recorded serve all later ones. A recording gets a
// mark. Other strategies have no use for it.
func (p *Pool) Step() {
	q := p.opened()
	if r := q.leaks.Record; r != nil {
		r.Step()
	}
	forwardTo(q.strategy).Step()
}
