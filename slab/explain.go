package slab

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
)

// String returns the line that [ParseConfig] reads back to c: every key that
// is not zero, in a fixed order. Where a file or device name has commas or
// spaces that no line can tell from its own, it is the JSON object instead.
func (c Config) String() string {
	var parts []string
	for _, o := range options {
		text := o.format(c)
		if text == "" {
			continue
		}
		part := o.name() + "=" + text
		if back, faults := splitLine(part); len(faults) > 0 || len(back) != 1 || back[0].value != text {
			return string(c.json())
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

// MarshalJSON returns the object that [ParseConfig] reads back to c, with the
// keys that are not zero.
func (c Config) MarshalJSON() ([]byte, error) { return c.json(), nil }

func (c Config) json() []byte {
	var members []string
	for _, o := range options {
		text := o.format(c)
		if text == "" {
			continue
		}
		if !o.bare() || !json.Valid([]byte(text)) { // none is no number
			quoted, _ := json.Marshal(text) // a string always can be
			text = string(quoted)
		}
		members = append(members, fmt.Sprintf("%q:%s", o.name(), text))
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

// Explain returns a line for every key that is in effect with its value and
// where that comes from, in columns. Keys that the strategy or device has no
// use for are left out. What only the opened device can tell is in
// [Pool.Explain].
func (c Config) Explain() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, o := range options {
		var why string
		if c, why = settle(o, c); why != "" {
			fmt.Fprintf(w, "%s\t%s\t%s\n", o.name(), o.show(c), why)
		}
	}
	w.Flush()
	if warning := c.on.warning(); warning != "" {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	return b.String()
}

// Explain is that of the pool's Config with all that its device has told: the
// alignment that it needs, and what will not be as it should.
func (p *Pool) Explain() string { return p.c.given.Explain() }
