package slab

import (
	"fmt"
	"slices"
	"strings"
)

// A ConfigError names everything that is wrong with a configuration at once.
type ConfigError struct {
	// Faults are sentences of the form "key=value: what is wrong with it".
	Faults []string
}

func (e *ConfigError) Error() string {
	if len(e.Faults) == 1 {
		return "slab: config: " + e.Faults[0]
	}
	return fmt.Sprintf("slab: config: %d faults: %s", len(e.Faults), strings.Join(e.Faults, "; "))
}

// errConfig is nil where there are no faults.
func errConfig(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return &ConfigError{Faults: faults}
}

// Validate returns a *[ConfigError] that names every value out of range and
// every option that the strategy or device cannot use, or nil. Whether the
// device exists is only known when it is opened. [Open] calls Validate.
func (c Config) Validate() error { return errConfig(c.faults()) }

func (c Config) faults() []string {
	var faults []string
	for _, o := range options {
		faults = append(faults, o.faults(c)...)
	}
	full := c.withDefaults()
	if !slices.Contains(Strategies(), full.Strategy) {
		return faults // what it could use is anybody's guess
	}
	for _, o := range options {
		text := o.format(c)
		if why := o.usable(full); text != "" && why != "" {
			faults = append(faults, fmt.Sprintf("%s=%s: %s", o.name(), text, why))
		}
	}
	return faults
}

// withDefaults fills in every default, so that strategies and pool see values
// only: a zero that is left means none, for Align the strategy's own, and where
// the option is of no use nothing. Filling in twice changes nothing.
func (c Config) withDefaults() Config {
	for _, o := range options {
		c, _ = settle(o, c)
	}
	return c
}

// forStrategy is withDefaults for a strategy that is made by itself, whichever
// c names, with the alignment that the device needs at least.
func (c Config) forStrategy(name string, upstream Allocator) Config {
	c.Strategy, c.on = name, natureOf(deviceOf(upstream))
	if c.Align > 0 {
		c.Align = max(c.Align, c.on.align)
	}
	return c.withDefaults()
}

// settle gives c the default of o and says where the value in effect comes
// from. It says "" where o is not in effect, which takes the default to know:
// being turned off is in effect everywhere.
func settle(o option, c Config) (filled Config, why string) {
	filled = c
	why = o.fill(&filled)
	if o.usable(filled) != "" {
		return c, ""
	}
	return filled, why
}
