package slab

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/sim" // so that Config.Device can name it
)

// OpenConfig opens the device that c names and a pool on it. Close closes
// both. From the device up the stack is always
//
//	device     Config.Device
//	limit      Config.MaxBytes
//	strategy   Config.Strategy
//	check      Config.Check
//	guard      Config.Guard, beside the strategy
//	caches     Config.CacheBytes
//	record     Config.Record, RecordLast
//	scopes     Config.Statistics
//
// and what is not asked for is left out.
func OpenConfig(c Config) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d, err := device.Open(c.withDefaults().Device)
	if err != nil {
		return nil, err
	}
	p, err := Open(d, c)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	p.pool.config.device = d
	return p, nil
}

// MustOpen is [OpenConfig] of a line, for main and for tests. It panics with the error: a
// *[ConfigError], or that of the device.
func MustOpen(line string) *Pool {
	c, err := ParseConfig(line)
	if err != nil {
		panic(err)
	}
	p, err := OpenConfig(c)
	if err != nil {
		panic(err)
	}
	return p
}

// OpenEnv is OpenConfig of the configuration in the environment; see
// [ConfigFromEnv].
func OpenEnv() (*Pool, error) {
	c, err := ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	return OpenConfig(c)
}

// traits are what only the opened device can tell a Config. They are zero where there
// is no device, and for most devices that there are.
type traits struct {
	device.Traits
	name   string
	locked bool // page-locked memory: see device.Pinner
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

// needsAlign says why a Config has no use for its Align, or "".
func needsAlign(c Config) string {
	if why := onlyFor("sizeclass", "bestfit", "slab", "plan")(c); why != "" {
		return why
	}
	if 0 < c.Align && c.Align < c.traits.Align {
		return fmt.Sprintf("device %s uses blocks at multiples of %d only", c.traits.name, c.traits.Align)
	}
	return ""
}

// defaultAlign is what the device needs, if it needs more than the default. Sizeclass
// has a default of its own, which no number says.
func defaultAlign(c Config) (int, string) {
	switch {
	case c.traits.Align > 16:
		return c.traits.Align, "as device " + c.traits.name + " needs"
	case c.Strategy == "sizeclass":
		return 0, "default of sizeclass"
	}
	return 16, "default of " + c.Strategy
}
