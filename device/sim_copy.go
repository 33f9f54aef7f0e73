package device

import "fmt"

const (
	simBase  = 1 << 44 // no address that a host pointer is likely to have
	simAlign = 256     // of addresses, as accelerators have it
	simPage  = 64 << 10
	simFresh = 0xDB // contents nobody wrote
)

// A SimRegion is one allocation of a [Sim]. The memory behind it lives in
// pages of the Go heap that are made when they are first written: a device of
// many GiB fits any machine as long as little of it is used.
type SimRegion struct {
	dev   *Sim
	addr  uint64
	size  int
	gone  bool // freed
	pages map[int]*[simPage]byte
}

// Size returns the bytes asked for.
func (r *SimRegion) Size() int { return r.size }

// Addr returns the address on the device, a multiple of 256. It means nothing
// to the CPU, and no region of the same device ever has it again.
func (r *SimRegion) Addr() uint64 { return r.addr }

// Copy moves bytes in any of the three directions, and between blocks of host
// memory too. Freed and foreign memory gives an error that wraps
// ErrUnavailable, a block that is not inside its region one that wraps ErrSize.
func (s *Sim) Copy(dst, src Block) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.CopyCalls++
	if err := s.faults.strike(callCopy); err != nil {
		return fmt.Errorf("device: copy of %d bytes on %s, call %d: %w", src.Len, s.name, s.stats.CopyCalls, err)
	}
	if err := checkCopy(dst, src); err != nil {
		return err
	}
	to, err := s.locate(dst)
	if err != nil {
		return err
	}
	from, err := s.locate(src)
	if err != nil {
		return err
	}
	s.move(to, from, dst.Len)
	return nil
}

// A place is where bytes are: on the device from off, or else on the host.
type place struct {
	region *SimRegion
	off    int
	host   []byte
}

// locate finds the bytes of a block that was checked.
func (s *Sim) locate(b Block) (place, error) {
	r, ok := b.Region.(*SimRegion)
	if !ok || r.dev != s {
		host, err := hostBytes(s.name, b)
		return place{host: host}, err
	}
	if r.gone {
		return place{}, fmt.Errorf("device: %d bytes at offset %d of a freed region of %d on %s: %w",
			b.Len, b.Off, r.size, s.name, ErrUnavailable)
	}
	return place{region: r, off: b.Off}, nil
}

func (s *Sim) move(to, from place, n int) {
	switch {
	case to.region == nil && from.region == nil:
		copy(to.host, from.host)
	case from.region == nil:
		s.stats.ToDeviceBytes += int64(n)
		to.region.write(to.off, from.host)
	case to.region == nil:
		s.stats.ToHostBytes += int64(n)
		from.region.read(to.host, from.off)
	default:
		// By way of the host: the two may overlap, and be on different pages.
		s.stats.WithinBytes += int64(n)
		m := make([]byte, n)
		from.region.read(m, from.off)
		to.region.write(to.off, m)
	}
}

// write copies m to off, a page at a time.
func (r *SimRegion) write(off int, m []byte) {
	for len(m) > 0 {
		n := copy(r.page(off / simPage)[off%simPage:], m)
		m, off = m[n:], off+n
	}
}

// page returns a page to write to.
func (r *SimRegion) page(i int) *[simPage]byte {
	p := r.pages[i]
	if p == nil {
		p = new([simPage]byte)
		fill(p[:], simFresh)
		if r.pages == nil {
			r.pages = make(map[int]*[simPage]byte)
		}
		r.pages[i] = p
	}
	return p
}

// read copies from off to m. A page that nobody wrote is not made for it.
func (r *SimRegion) read(m []byte, off int) {
	for len(m) > 0 {
		n := min(len(m), simPage-off%simPage)
		if p := r.pages[off/simPage]; p != nil {
			copy(m[:n], p[off%simPage:])
		} else {
			fill(m[:n], simFresh)
		}
		m, off = m[n:], off+n
	}
}

func (s *Sim) fill(dst Block, value byte) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.FillCalls++
	if err := s.faults.strike(callFill); err != nil {
		return fmt.Errorf("device: fill of %d bytes on %s, call %d: %w", dst.Len, s.name, s.stats.FillCalls, err)
	}
	if err := checkBlock(dst); err != nil {
		return err
	}
	to, err := s.locate(dst)
	if err != nil {
		return err
	}
	if to.region == nil {
		fill(to.host, value)
		return nil
	}
	s.stats.FillBytes += int64(dst.Len)
	for off, end := to.off, to.off+dst.Len; off < end; {
		n := min(end-off, simPage-off%simPage)
		fill(to.region.page(off / simPage)[off%simPage:][:n], value)
		off += n
	}
	return nil
}
