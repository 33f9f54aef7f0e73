package device

import (
	"fmt"
	"time"
)

// What changes bytes where they are: fills and kernels.

func (s *Sim) planFill(dst Block, value byte) (*simWork, error) {
	s.stats.FillCalls++
	if err := s.faults.strike(callFill); err != nil {
		return failing(fmt.Errorf("device: fill of %d bytes on %s, call %d: %w", dst.Len, s.name, s.stats.FillCalls, err)), nil
	}
	if err := checkBlock(dst); err != nil {
		return nil, err
	}
	if _, err := s.locate(dst); err != nil {
		return nil, err
	}
	return &simWork{engine: engineWithin, cost: s.costs.transfer(dst.Len, s.costs.Within), do: func() error {
		to, err := s.locate(dst)
		if err != nil {
			s.stats.UsedAfterFree++
			return err
		}
		s.fill(to, dst.Len, value)
		return nil
	}}, nil
}

func (s *Sim) fill(to place, n int, value byte) {
	if to.region == nil {
		fill(to.host, value)
		return
	}
	s.stats.FillBytes += int64(n)
	for off, end := to.off, to.off+n; off < end; {
		n := min(end-off, simPage-off%simPage)
		fill(to.region.page(off / simPage)[off%simPage:][:n], value)
		off += n
	}
}

func (s *Sim) planLaunch(cost time.Duration, kernel func(...[]byte), args []Block) (*simWork, error) {
	s.stats.LaunchCalls++
	if err := s.faults.strike(callLaunch); err != nil {
		return failing(fmt.Errorf("device: launch on %s, call %d: %w", s.name, s.stats.LaunchCalls, err)), nil
	}
	for _, b := range args {
		if err := checkBlock(b); err != nil {
			return nil, err
		}
	}
	if _, err := s.onDevice(args); err != nil {
		return nil, err
	}
	return &simWork{engine: engineCompute, cost: max(cost, 0), do: func() error {
		at, err := s.onDevice(args)
		if err != nil {
			s.stats.UsedAfterFree++
			return err
		}
		launch(kernel, at, args)
		return nil
	}}, nil
}

// onDevice is places for blocks that have to be on the device.
func (s *Sim) onDevice(blocks []Block) ([]place, error) {
	at, err := s.places(blocks...)
	for i, p := range at {
		if p.region == nil && blocks[i].Len > 0 {
			return nil, fmt.Errorf("device: launch on %s with %d bytes of host memory: %w", s.name, blocks[i].Len, ErrUnavailable)
		}
	}
	return at, err
}

// launch calls a kernel on copies, as what it works on lies on several pages.
func launch(kernel func(...[]byte), at []place, args []Block) {
	views := make([][]byte, len(args))
	for i, p := range at {
		views[i] = make([]byte, args[i].Len)
		if p.region != nil {
			p.region.read(views[i], p.off)
		}
	}
	kernel(views...)
	for i, p := range at {
		if p.region != nil {
			p.region.write(p.off, views[i])
		}
	}
}
