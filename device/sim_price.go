package device

import "math"

// CallBytes makes the Sim [Priced], by its costs of a copy to the device.
func (s *Sim) CallBytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.costs
	switch call := c.Call + c.Latency; {
	case call == 0:
		return 0
	case c.ToDevice == 0:
		return math.MaxInt32 // bytes take no time at all
	default:
		return int(min(call.Seconds()*c.ToDevice, math.MaxInt32))
	}
}
