package strategy

import "github.com/bufslab/bufslab/device"

// Quarantine takes a block out of use for good.
func (p *Bestfit) Quarantine(b device.Block, extent int32) bool {
	extent = p.lose(b, extent, func(extent int32, off, size int) (bool, int32) {
		return off == 0 && size == p.heap.Size(extent), extent
	})
	return p.isolate(extent)
}

// nothing stands for a block that is lost while others of its slab are not.
const nothing = -1

// lose counts a block as lost if find says that it is out. It returns the extent that is
// lost with it, nothing, or 0 if the block is not out.
func (p *Bestfit) lose(b device.Block, extent int32, find func(extent int32, off, size int) (bool, int32)) int32 {
	p.heap.Lock()
	defer p.heap.Unlock()
	extent, off := p.heap.Locate(b, extent)
	if extent == 0 {
		return 0
	}
	out, with := find(extent, off, b.Len)
	if !out {
		return 0
	}
	p.cameBack(b.Len)
	return with
}

// isolate puts the extent that lose has returned in quarantine.
func (p *Bestfit) isolate(extent int32) bool {
	if extent > 0 {
		p.heap.Quarantine(extent)
	}
	return extent != 0
}
