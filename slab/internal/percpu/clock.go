package percpu

import "time"

// clock returns nanoseconds. A replay has no clock: its time is that of a program that touches all bytes
// of its Gets.
func clock(o *Options, n *counters, cpus []cpu) func() int64 {
	if !o.Replayed {
		start := time.Now()
		return func() int64 { return int64(time.Since(start)) }
	}
	return func() int64 {
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
