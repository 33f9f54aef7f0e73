package slab

import "github.com/bufslab/bufslab/device"

// Device returns the device whose memory the pool hands out, or nil where it draws on
// an Allocator of which that is not known. The pool closes it only where [OpenConfig]
// opened both.
func (p *Pool) Device() device.Device { return deviceOf(p.pool.upstream) }
