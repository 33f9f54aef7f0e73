package sim

import "github.com/bufslab/bufslab/device"

const (
	firstAddr = 1 << 44 // no address that a host pointer is likely to have
	addrAlign = 256     // of addresses, as accelerators have it
	pageBytes = 64 << 10
	fresh     = 0xDB // contents that were never written
)

var _ device.Region = (*Region)(nil)

// A Region is one allocation of a [Device]. Its memory lives in pages of the
// Go heap that are made when they are first written: a device of many GiB fits
// any machine as long as little of it is used.
type Region struct {
	dev   *Device
	addr  uint64
	size  int
	gone  bool // freed
	pages map[int]*[pageBytes]byte
}

// Size returns the bytes asked for.
func (r *Region) Size() int { return r.size }

// Addr returns the address on the device, a multiple of 256. It means nothing
// to the CPU, and no other region of the same device ever has it.
func (r *Region) Addr() uint64 { return r.addr }

// The caller of all below holds the device's mu.

// write copies m to off, a page at a time.
func (r *Region) write(off int, m []byte) {
	for len(m) > 0 {
		n := copy(r.page(off / pageBytes)[off%pageBytes:], m)
		m, off = m[n:], off+n
	}
}

// page returns a page to write to.
func (r *Region) page(i int) *[pageBytes]byte {
	p := r.pages[i]
	if p == nil {
		p = new([pageBytes]byte)
		device.Fill(p[:], fresh)
		if r.pages == nil {
			r.pages = make(map[int]*[pageBytes]byte)
		}
		r.pages[i] = p
	}
	return p
}

// read copies from off to m. It makes no page that was never written.
func (r *Region) read(m []byte, off int) {
	for len(m) > 0 {
		n := min(len(m), pageBytes-off%pageBytes)
		if p := r.pages[off/pageBytes]; p != nil {
			copy(m[:n], p[off%pageBytes:])
		} else {
			device.Fill(m[:n], fresh)
		}
		m, off = m[n:], off+n
	}
}

// fill sets n bytes from off.
func (r *Region) fill(off, n int, value byte) {
	for end := off + n; off < end; {
		n := min(end-off, pageBytes-off%pageBytes)
		device.Fill(r.page(off / pageBytes)[off%pageBytes:][:n], value)
		off += n
	}
}
