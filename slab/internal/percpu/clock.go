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
		gets, got := n.gets, n.got
		for i := range cpus {
			served, _ := cpus[i].served()
			gets += served
			for k := range cpus[i].caches {
				got += cpus[i].caches[k].got
			}
		}
		return 100*gets + got/8
	}
}
