package metal

import "github.com/bufslab/bufslab/device"

// word is what the GPU moves, and where: lengths and offsets are multiples of it.
const word = 4

// A place is where the bytes of a block are: in a buffer of this GPU, where the CPU reaches
// them, or both.
type place struct {
	buf  *Buffer // of this GPU, held until drop
	off  int
	host []byte
}

// locate finds the bytes of a block that was checked. What is no buffer of this GPU is host
// memory, or out of reach.
func (h *hardware) locate(b device.Block) (place, error) {
	r, ours := b.Region.(*Buffer)
	if !ours || r.dev.hw != h {
		host, err := device.HostBytes(h.Name, b)
		return place{host: host}, err
	}
	if err := r.hold(); err != nil {
		return place{}, err
	}
	p := place{buf: r, off: b.Off}
	if r.host != nil {
		p.host = r.host[b.Off : b.Off+b.Len]
	}
	return p, nil
}

func (p *place) drop() {
	if p.buf != nil {
		p.buf.drop()
		p.buf = nil
	}
}

// part returns n bytes of p from off.
func (p place) part(off, n int) place {
	p.off += off
	if p.host != nil {
		p.host = p.host[off : off+n]
	}
	return p
}

// onGPU says that the GPU reaches it, and n bytes are words.
func (p place) onGPU(n int) bool { return p.buf != nil && (p.off|n)%word == 0 }

// words returns where the words begin and end that n bytes of a buffer are in.
func words(off, n int) (lo, hi int) { return off &^ (word - 1), (off + n + word - 1) &^ (word - 1) }
