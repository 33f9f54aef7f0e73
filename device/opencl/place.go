package opencl

import (
	"fmt"
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
	}
	switch r := b.Region.(type) {
	case *Buffer:
		if p.region != nil {
			p.mem, p.off = r.mem, uintptr(b.Off)
			return p, nil
		}
	case *SVM:
		p.fine = p.region != nil && r.fine
	}
	if p.host = device.Bytes(b); p.host == nil && b.Len > 0 {
		p.drop()
		return place{}, fmt.Errorf("opencl: %s cannot reach %d bytes of a %T: %w", c.Info.Name, b.Len, b.Region, device.ErrUnavailable)
	}
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

// borrowed says that the memory is somebody else's, who may move on as soon as
// the call returns. Memory of this package stays until it is freed.
func (p *place) borrowed() bool { return p.host != nil && p.region == nil }
