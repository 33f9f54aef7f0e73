package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// lookUnderWay reports a buffer that is released while a stream works on it that no UsedOn and no
// GetOn has named, where the device knows: its next owner would share the memory with that work. A
// stream that waits for the work stands for it.
func (p *pool) lookUnderWay(s *handle.Slot) {
	d, ok := deviceOf(p.upstream).(device.Overseer)
	if !ok || s.Collected() {
		return
	}
	if b := s.Block(s.Asked()); b.Len > 0 && d.UnderWay(b, p.pending.Uses(s)...) {
		p.check.Report(fmt.Sprintf("slab: buffer of %d bytes released at %s while a stream works on it: no UsedOn or GetOn has named that stream",
			b.Len, watch.Caller()))
	}
}
