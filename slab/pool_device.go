package slab

import "github.com/bufslab/bufslab/device"

// Device returns the device whose memory the pool hands out, or nil where it draws on
// an Allocator of which that is not known, and of a nil or zero Pool. The pool closes it
// only where [OpenConfig] opened both.
func (p *Pool) Device() device.Device {
	if p == nil || p.pool == nil {
		return nil
	}
	return deviceOf(p.pool.upstream)
}
