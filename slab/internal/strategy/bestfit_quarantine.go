package strategy

import "github.com/bufslab/bufslab/device"

// Quarantine takes a block out of use for good.
func (p *Bestfit) Quarantine(b device.Block, extent int32) bool {
	return p.quarantine(b, extent, p.takeExtent)
}

// quarantine is Quarantine of a block that take takes out of use, if it is active. take returns the
// extent that goes into quarantine with the block, 0 while the extent has other blocks.
func (p *Bestfit) quarantine(
	b device.Block, extent int32, take func(extent int32, off, size int) (with int32, out bool),
) bool {
	with, out := p.takeLocked(b, extent, take)
	if out && with > 0 {
		p.heap.Quarantine(with)
	}
	return out
}

func (p *Bestfit) takeLocked(b device.Block, extent int32, take func(extent int32, off, size int) (int32, bool)) (
	with int32, out bool,
) {
	p.heap.Lock()
	defer p.heap.Unlock()
	extent, off := p.heap.Locate(b, extent)
	if extent == 0 {
		return 0, false
	}
	if with, out = take(extent, off, b.Len); out {
		p.cameBack(b.Len)
	}
	return with, out
}

// takeExtent is for a block that is all of its extent. The caller holds the heap's lock.
func (p *Bestfit) takeExtent(extent int32, off, size int) (with int32, out bool) {
	return extent, off == 0 && size == p.heap.Size(extent)
}
