package device

import (
	"fmt"
	"time"
)

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
// It takes its time by the clock, and waits for no stream.
func (s *Sim) Copy(dst, src Block) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	w, err := s.planCopy(dst, src)
	if err != nil {
		return err
	}
	s.reach(s.occupy(w.engine, w.cost, 0))
	return w.do()
}

// planCopy judges a copy now and moves its bytes when it is done. A fault
// that strikes strikes then.
func (s *Sim) planCopy(dst, src Block) (*simWork, error) {
	s.stats.CopyCalls++
	if err := s.faults.strike(callCopy); err != nil {
		return failing(fmt.Errorf("device: copy of %d bytes on %s, call %d: %w", src.Len, s.name, s.stats.CopyCalls, err)), nil
	}
	if err := checkCopy(dst, src); err != nil {
		return nil, err
	}
	at, err := s.places(dst, src)
	if err != nil {
		return nil, err
	}
	w := &simWork{do: func() error {
		at, err := s.places(dst, src)
		if err != nil {
			s.stats.UsedAfterFree++
			return err
		}
		s.move(at[0], at[1], dst.Len)
		return nil
	}}
	w.engine, w.cost, w.waits = s.route(at[0], at[1], dst, src)
	return w, nil
}

// failing is work that ends with an error.
func failing(err error) *simWork {
	return &simWork{engine: engineNone, do: func() error { return err }}
}

// route says what does a copy, for how long, and whether the host waits for it.
func (s *Sim) route(to, from place, dst, src Block) (e engine, cost time.Duration, waits bool) {
	c := s.costs
	host, perSecond := src, c.ToDevice
	switch {
	case to.region == nil && from.region == nil:
		return engineNone, 0, s.late == nil
	case to.region != nil && from.region != nil:
		return engineWithin, c.transfer(dst.Len, c.Within), false
	case to.region == nil:
		e, host, perSecond = engineToHost, dst, c.ToHost
	}
	if r, ok := host.Region.(*pinnedRegion); !ok || r.dev.sim != s {
		perSecond, waits = c.Pageable, s.late == nil
	}
	return e, c.transfer(dst.Len, perSecond), waits
}

// places finds the bytes of blocks that were checked.
func (s *Sim) places(blocks ...Block) ([]place, error) {
	at := make([]place, len(blocks))
	for i, b := range blocks {
		p, err := s.locate(b)
		if err != nil {
			return nil, err
		}
		at[i] = p
	}
	return at, nil
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
		s.stats.ToDeviceCopies++
		s.stats.ToDeviceBytes += int64(n)
		to.region.write(to.off, from.host)
	case to.region == nil:
		s.stats.ToHostCopies++
		s.stats.ToHostBytes += int64(n)
		from.region.read(to.host, from.off)
	default:
		// By way of the host: the two may overlap, and be on different pages.
		s.stats.WithinCopies++
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
