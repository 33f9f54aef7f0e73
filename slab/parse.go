package slab

import (
	"cmp"
	"fmt"
	"os"
	"strings"
)

// ParseConfig reads a configuration from text, which is a line
//
//	device=mmap,strategy=slab,max_bytes=4GiB,trim_after=30s
//
// or, if it begins with a brace, a JSON object with the same keys whose values
// are strings, numbers or booleans. Keys are the fields of [Config] in lower
// case with underscores; [Config.Explain] lists those in effect. In a line a
// part without = belongs to the value before it, as in
// device=virtual:fixed,64MiB, unless it is the name of a switch: check alone is check=true.
// A strategy's main option may follow its name: strategy=bitlog:4 is
// strategy=bitlog,bits=4. The main options of sizeclass (steps), bestfit and slab (miss_target) may
// follow in the same way. [device.ParseSize] reads sizes, [time.ParseDuration]
// reads durations, and a miss_target is 0.01 or 1%. max_bytes=75% is a share of the device's
// memory, max_held=25% one of the bytes that were active lately: see MaxShare and HeldShare in Config.
//
// An omitted key takes its default. cache_bytes=0, max_held=0, max_held_blocks=0 and gc_trigger=0
// mean off. In the Config such a zero is -1, and bits=0 is -1, too. reserve, max_bytes, max_held,
// max_held_blocks, max_block_bytes, guard and profile_rate take none for no limit. trim_after takes none and
// idle takes keep for never, which is -1. Any other explicit zero is validated like every value.
//
// Nothing is ignored. One *[ConfigError] names every unknown or repeated key,
// every option that the strategy cannot use and every value out of range; the
// Config is zero then. Empty text gives the zero Config.
func ParseConfig(text string) (Config, error) {
	c, faults := options.Parse(text)
	return c, configError(faults)
}

// ConfigFromEnv reads the environment variable BUFSLAB_CONF as [ParseConfig]
// does. Unset or empty gives the zero Config.
func ConfigFromEnv() (Config, error) {
	c, err := ParseConfig(os.Getenv("BUFSLAB_CONF"))
	if err != nil {
		err = fmt.Errorf("BUFSLAB_CONF: %w", err)
	}
	return c, err
}

// UnmarshalJSON reads an object as [ParseConfig] does. It replaces all of c
// except Hooks and Logger. If there is an error c is as before.
func (c *Config) UnmarshalJSON(text []byte) error {
	parsed, faults := options.ParseJSON(text)
	if len(faults) == 0 {
		parsed.Hooks, parsed.Logger = c.Hooks, c.Logger
		*c = parsed
	}
	return configError(faults)
}

// MarshalJSON returns the object that [ParseConfig] reads back to c, with the
// keys that are not zero. JSON is UTF-8: the error is a *[ConfigError] if a name of a file or
// device is not. A line can hold such a name.
func (c Config) MarshalJSON() ([]byte, error) {
	object, faults := options.JSON(c)
	if len(faults) > 0 {
		return nil, configError(faults)
	}
	return object, nil
}

// String returns the line that [ParseConfig] reads back to c: every key that
// is not zero, in a fixed order. If a file or device name has commas or spaces
// that a line cannot hold, String returns the JSON object instead.
// Of a name that JSON cannot hold either no text reads back to c.
func (c Config) String() string { return options.Line(c) }

// Explain returns a line for every key in effect: the key, its value and the source of
// the value, in columns. Keys that the strategy or device has no use for are left out.
// [Pool.Explain] also knows the traits of the opened device.
func (c Config) Explain() string {
	text := options.Explain(c)
	if from := c.traits.from; from != "" {
		text = strings.Replace(text, "set by you", from, 1) // the device is in the first line
	}
	if s := c.traits.share; s.bytes > 0 {
		text += fmt.Sprintf("max_bytes is %d bytes, %s\n", s.bytes, s.source)
	}
	if warning := c.traits.warning(); warning != "" {
		text += "warning: " + warning + "\n"
	}
	return text
}

// Validate returns a *[ConfigError] that names every value out of range and
// every option that the strategy or device cannot use, or nil. Whether the
// device exists is only known when it is opened. [Open] calls Validate.
func (c Config) Validate() error { return configError(options.Faults(c)) }

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

// configError returns nil if there are no faults.
func configError(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return &ConfigError{Faults: faults}
}

// withDefaults fills in every default, so that strategies and pool see only values.
// A remaining zero means none; for Align it means the strategy's own alignment.
func (c Config) withDefaults() Config { return options.WithDefaults(c) }

// forStrategy is withDefaults for a strategy that is made without a pool. It
// ignores the strategy that c names, and raises Align to what the device needs.
func (c Config) forStrategy(name string, upstream Allocator) Config {
	c.Strategy, c.traits = name, traitsOf(deviceOf(upstream))
	if c.Align > 0 {
		c.Align = max(c.Align, c.traits.Align)
	}
	return c.withDefaults()
}

// nameOr returns the name of a pool that is opened as c says; full is c with its defaults.
func (c Config) nameOr(full Config) string {
	return cmp.Or(c.Name, c.String(), "strategy="+full.Strategy)
}
