package opencl

import (
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A place is where the bytes of a block are: in a cl_mem from off, or else
// where the CPU reaches them.
type place struct {
	region *region // of this package, held until drop; nil for memory of others
	mem    memID
	off    uintptr
	host   []byte
	fine   bool // the queues reach it by the CPU's address
}

// locate finds the bytes of a block that was checked. A region of the same
// context is the driver's to move, whichever device made it; all else is host
// memory, or out of reach.
func (c *context) locate(b device.Block) (place, error) {
	var p place
	if r, ok := b.Region.(owned); ok && r.base().dev.ctx == c {
		p.region = r.base()
		if err := p.region.hold(); err != nil {
			return place{}, err
		}
		if p.fine = p.region.fine; p.region.mem != 0 {
			p.mem, p.off = p.region.mem, uintptr(b.Off)
			return p, nil
		}
	}
	host, err := device.HostBytes(c.Info.Name, b)
	if err != nil {
		p.drop()
		return place{}, err
	}
	p.host = host
	return p, nil
}

func (p *place) drop() {
	if p.region != nil {
		p.region.drop()
		p.region = nil
	}
}

// ptr is the address of host memory.
func (p *place) ptr() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(p.host)) }

// borrowed says that the memory is the caller's, who may change it as soon as
// the call returns. Memory of this package stays until it is freed.
func (p *place) borrowed() bool { return p.host != nil && p.region == nil }
