package sim

import (
	"fmt"
	"time"

	"github.com/bufslab/bufslab/device"
)

// Copy moves bytes in any of the three directions, and between blocks of host
// memory too. Freed and foreign memory gives an error that wraps
// ErrUnavailable, a block that is not inside its region one that wraps ErrSize.
// It takes its time by the clock, and waits for no stream.
func (d *Device) Copy(dst, src device.Block) error {
	if err := d.base.Usable(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	w, err := d.planCopy(dst, src)
	if err != nil {
		return err
	}
	d.reach(d.occupy(w.engine, w.cost, 0))
	return w.do()
}

// The caller of all below holds the device's mu.

// planCopy judges a copy now and moves its bytes when it is done. A fault
// strikes then, too.
func (d *Device) planCopy(dst, src device.Block) (*work, error) {
	d.stats.CopyCalls++
	if err := d.strike(callCopy); err != nil {
		return failing(fmt.Errorf("sim: copy of %d bytes on %s, call %d: %w", src.Len, d.Name(), d.stats.CopyCalls,
			err)), nil
	}
	if err := device.CheckCopy(dst, src); err != nil {
		return nil, err
	}
	at, err := d.places(dst, src)
	if err != nil {
		return nil, err
	}
	w := &work{uses: []device.Block{dst, src}, do: func() error {
		at, err := d.places(dst, src)
		if err != nil {
			d.stats.UsedAfterFree++
			return err
		}
		d.move(at[0], at[1], dst.Len)
		return nil
	}}
	w.engine, w.cost, w.waits = d.route(at[0], at[1], dst, src)
	return w, nil
}

// route says what does a copy, for how long, and whether the host waits for it.
func (d *Device) route(to, from place, dst, src device.Block) (e engine, cost time.Duration, waits bool) {
	c := d.costs
	host, perSecond := src, c.ToDevice
	switch {
	case to.region == nil && from.region == nil:
		return engineNone, 0, d.late == nil
	case to.region != nil && from.region != nil:
		return engineWithin, c.transfer(dst.Len, c.Within), false
	case to.region == nil:
		e, host, perSecond = engineToHost, dst, c.ToHost
	}
	if r, ok := host.Region.(*pinnedRegion); !ok || r.dev.dev != d {
		perSecond, waits = c.Pageable, d.late == nil
	}
	return e, c.transfer(dst.Len, perSecond), waits
}

// A place is where bytes are: on the device from off, or else on the host.
type place struct {
	region *Region
	off    int
	host   []byte
}

// places finds the bytes of blocks that were checked.
func (d *Device) places(blocks ...device.Block) ([]place, error) {
	at := make([]place, len(blocks))
	for i, b := range blocks {
		p, err := d.locate(b)
		if err != nil {
			return nil, err
		}
		at[i] = p
	}
	return at, nil
}

// locate finds the bytes of a block that was checked.
func (d *Device) locate(b device.Block) (place, error) {
	r, ok := b.Region.(*Region)
	if !ok || r.dev != d {
		host, err := device.HostBytes(d.Name(), b)
		return place{host: host}, err
	}
	if r.gone {
		return place{}, fmt.Errorf("sim: %d bytes at offset %d of a freed region of %d on %s: %w",
			b.Len, b.Off, r.size, d.Name(), device.ErrUnavailable)
	}
	return place{region: r, off: b.Off}, nil
}

func (d *Device) move(to, from place, n int) {
	switch {
	case to.region == nil && from.region == nil:
		copy(to.host, from.host)
	case from.region == nil:
		d.stats.ToDeviceCopies++
		d.stats.ToDeviceBytes += int64(n)
		to.region.write(to.off, from.host)
	case to.region == nil:
		d.stats.ToHostCopies++
		d.stats.ToHostBytes += int64(n)
		from.region.read(to.host, from.off)
	default:
		// By way of the host: the two may overlap, and be on different pages.
		d.stats.WithinCopies++
		d.stats.WithinBytes += int64(n)
		m := make([]byte, n)
		from.region.read(m, from.off)
		to.region.write(to.off, m)
	}
}
