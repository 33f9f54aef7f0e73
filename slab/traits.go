package slab

import (
	"fmt"
	"strings"

	"github.com/bufslab/bufslab/device"
)

// traits are what only the opened device can tell a Config. They are zero where there
// is no device, and for most devices that there are.
type traits struct {
	device.Traits
	name   string
	locked bool   // page-locked memory: see device.Pinner
	share  shared // what Config.MaxShare comes to
	from   string // where the name of the device is from, if not from the Config
}

// A shared is what a share comes to. Odd is what a file of the system says that cannot be meant.
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

// warning says what will not be as a program expects, or "".
func (t traits) warning() string {
	if !t.Deferred {
		return ""
	}
	return fmt.Sprintf("device %s finds memory for a block when it is first used; if there is none, that use fails, and no held memory is given back for it", t.name)
}
