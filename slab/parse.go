package slab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// ParseConfig reads a configuration from text, which is a line
//
//	device=mmap,strategy=slab,max_bytes=4GiB,trim_after=30s
//
// or, if it begins with a brace, a JSON object with the same keys whose values
// are strings, numbers or booleans. Keys are the fields of [Config] in lower
// case with underscores; [Config.Explain] lists them. In a line a part without
// = belongs to the value before it, as in device=virtual:fixed,64MiB. Sizes are
// as [device.ParseSize] reads them, durations as [time.ParseDuration], a
// miss_target is 0.01 or 1%.
//
// What a zero in a Config cannot say is said by 0 and none: cache_bytes=0,
// max_held=0, max_held_blocks=0 and gc_valve=0 turn these off, which is -1 in
// the Config, and max_bytes, max_held, max_held_blocks, max_block_bytes and
// trim_after take none for no limit.
//
// Nothing is ignored: an unknown or repeated key, an option that the strategy
// cannot use and a value out of range are all named by one *[ConfigError]; the
// Config is zero then. Empty text gives the zero Config.
func ParseConfig(text string) (Config, error) {
	pairs, faults := pairsOf(strings.TrimSpace(text))
	var c Config
	for i, p := range pairs {
		if slices.ContainsFunc(pairs[:i], func(q pair) bool { return q.key == p.key }) {
			faults = append(faults, fmt.Sprintf("%s=%s: %s is given twice", p.key, p.value, p.key))
		} else if err := c.set(p.key, p.value); err != nil {
			faults = append(faults, err.Error())
		}
	}
	if faults = append(faults, c.faults()...); len(faults) > 0 {
		return Config{}, errConfig(faults)
	}
	return c, nil
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

// set parses one key. The error is a fault.
func (c *Config) set(key, value string) error {
	for _, o := range options {
		if o.name() == key {
			return o.parse(c, value)
		}
	}
	return fmt.Errorf("%s=%s: unknown key, the nearest is %s", key, value, nearest(key))
}

// A pair is a key of a configuration and the text of its value.
type pair struct{ key, value string }

func pairsOf(text string) (pairs []pair, faults []string) {
	if strings.HasPrefix(text, "{") {
		return splitJSON(text)
	}
	return splitLine(text)
}

func splitLine(text string) (pairs []pair, faults []string) {
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		key, value, found := strings.Cut(part, "=")
		switch {
		case found:
			pairs = append(pairs, pair{strings.TrimSpace(key), strings.TrimSpace(value)})
		case strings.TrimSpace(part) == "" || len(pairs) == 0:
			faults = append(faults, fmt.Sprintf("%q: want key=value", part))
		default:
			pairs[len(pairs)-1].value += "," + strings.TrimSpace(part)
		}
	}
	return pairs, faults
}

// splitJSON walks the object by hand, as a map would swallow repeated keys.
func splitJSON(text string) (pairs []pair, faults []string) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if _, err := d.Token(); err != nil { // the brace
		return nil, []string{"JSON: " + err.Error()}
	}
	for d.More() {
		key, err := d.Token()
		var value any
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return pairs, append(faults, "JSON: "+err.Error())
		}
		switch value.(type) {
		case string, json.Number, bool:
			pairs = append(pairs, pair{fmt.Sprint(key), fmt.Sprint(value)})
		default:
			faults = append(faults, fmt.Sprintf("%s: want a string, a number or a boolean", key))
		}
	}
	return pairs, append(faults, afterJSON(d)...)
}

// afterJSON wants the closing brace and then nothing.
func afterJSON(d *json.Decoder) []string {
	if _, err := d.Token(); err != nil {
		return []string{"JSON: " + err.Error()}
	}
	if _, err := d.Token(); err != io.EOF {
		return []string{"JSON: something follows the object"}
	}
	return nil
}

// UnmarshalJSON reads an object as [ParseConfig] does and replaces all of c.
func (c *Config) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	if !bytes.HasPrefix(text, []byte("{")) {
		return errConfig([]string{fmt.Sprintf("JSON: want an object, not %.40s", text)})
	}
	parsed, err := ParseConfig(string(text))
	if err == nil {
		*c = parsed
	}
	return err
}
