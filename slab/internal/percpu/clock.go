package percpu

import "time"

// SetTime tells a Cache that is Replayed what time it is, in nanoseconds. Time does not go back.
func (c *Cache) SetTime(nanoseconds int64) { c.told = max(c.told, nanoseconds, 1) }

// clock returns nanoseconds. The time of a replay is what SetTime has told. A recording without times has the
// time of a program that touches all bytes of its Gets.
func clock(o *Options, told *int64, n *counters, cpus []cpu) func() int64 {
	if !o.Replayed {
		start := time.Now()
		return func() int64 { return int64(time.Since(start)) }
	}
	return func() int64 {
		if *told > 0 {
			return *told
		}
		s := n.Served
		for i := range cpus {
			s.add(cpus[i].served())
		}
		return 100*s.Gets() + s.Got/8
	}
}
