package slab

import (
	"fmt"
	"strings"

	"github.com/bufslab/bufslab/device"
)

// traits are facts that only the opened device can tell a Config. They are zero without a
// device, and for most devices.
type traits struct {
	device.Traits
	name   string
	locked bool   // page-locked memory: see device.Pinner
	share  shared // the bytes of Config.MaxShare
	from   string // the source of the device's name, if not the Config
}

// A shared is a share in bytes. Odd is the contents of a system's file that makes no sense.
type shared struct {
	bytes  int64
	source string
	odd    string
}

func traitsOf(d device.Device) (t traits) {
	if t.Traits = device.TraitsOf(d); t.Traits != (device.Traits{}) {
		t.name = d.Name()
	}
	t.locked = d != nil && strings.HasSuffix(d.Name(), ":pinned")
	return t
}

// warning says how the device differs from what a program expects, or "".
func (t traits) warning() string {
	if !t.Deferred {
		return ""
	}
	return fmt.Sprintf("device %s finds memory for a block when it is first used; if there is none, that use fails, and no held memory is given back for it", t.name)
}
