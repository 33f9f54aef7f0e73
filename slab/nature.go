package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// A nature is what of a stack only its opened device can tell. It is zero
// where that is not known, where there is no device, and for most that there are.
type nature struct {
	name     string
	align    int // see device.Aligned; 0 and 1: any place will do
	deferred bool
}

func natureOf(d device.Device) (n nature) {
	if a, ok := d.(device.Aligned); ok {
		n.align = a.Align()
	}
	if f, ok := d.(device.Deferred); ok {
		n.deferred = f.Deferred()
	}
	if n != (nature{}) {
		n.name = d.Name()
	}
	return n
}

// warning says what will not be as it should, "" where nothing is amiss.
func (n nature) warning() string {
	if !n.deferred {
		return ""
	}
	return fmt.Sprintf("device %s finds memory for a block when it is first used; if there is none, that use fails, and no held memory is given back for it", n.name)
}

// aligning is why a Config has no use for its Align, or "".
func aligning(c Config) string {
	if why := strategy("sizeclass", "bestfit", "slab")(c); why != "" {
		return why
	}
	if 0 < c.Align && c.Align < c.on.align {
		return fmt.Sprintf("device %s uses blocks at multiples of %d only", c.on.name, c.on.align)
	}
	return ""
}

// presetAlign is what the device needs, if it needs more than the default.
// Sizeclass has one of its own, which no number says.
func presetAlign(c Config) (int, string) {
	switch {
	case c.on.align > 16:
		return c.on.align, "as device " + c.on.name + " needs"
	case c.Strategy == "sizeclass":
		return 0, "default of sizeclass"
	}
	return 16, "default of " + c.Strategy
}
