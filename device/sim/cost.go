package sim

import (
	"math"
	"time"
)

// Costs say how long work on a [Device] takes by its clock. With the zero value
// it takes no time, and is done within the call that enqueues it.
type Costs struct {
	Call    time.Duration // of the host, for each call
	Latency time.Duration // before the bytes of a copy or fill move

	// Bytes a second, by direction; 0 takes no time. Within is for fills too.
	ToDevice, ToHost, Within float64
	// Pageable is for copies to and from host memory that is not page-locked.
	// A stream's Copy of it returns when the copy is done, unless the device is late.
	Pageable float64
}

// callBytes is Traits.CallBytes.
func (c Costs) callBytes() int {
	call := later(c.Call, c.Latency)
	if call > 0 && c.ToDevice == 0 {
		return math.MaxInt32 // bytes take no time at all
	}
	if n := int(min(call.Seconds()*c.ToDevice, math.MaxInt32)); n > 0 {
		return n
	}
	return -1
}

// transfer is the time that n bytes take.
func (c Costs) transfer(n int, perSecond float64) time.Duration {
	if perSecond <= 0 {
		return c.Latency
	}
	return later(c.Latency, time.Duration(min(float64(n)/perSecond*float64(time.Second), 1<<62)))
}

// later returns t and so much more, or the end of time if that is beyond it: work that is never
// to end takes as long as a Duration can.
func later(t, more time.Duration) time.Duration {
	if more > math.MaxInt64-max(t, 0) {
		return math.MaxInt64
	}
	return t + more
}
