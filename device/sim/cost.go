package sim

import (
	"math"
	"time"

	"github.com/bufslab/bufslab/device"
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

// Costs sets how long later work takes.
func (d *Device) Costs(c Costs) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.costs = c
}

// Traits returns CallBytes as it follows from the costs of a copy to the device.
func (d *Device) Traits() device.Traits {
	d.mu.Lock()
	defer d.mu.Unlock()
	return device.Traits{CallBytes: d.costs.callBytes()}
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
