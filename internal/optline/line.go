package optline

import (
	"fmt"
	"strings"
)

// A pair is a key and the text of its value.
type pair struct{ key, value string }

func (p pair) String() string          { return p.key + "=" + p.value }
func (p pair) fault(why string) string { return p.String() + ": " + why }

// Line returns the line that [Table.Parse] reads back to c: every key that is
// not zero, in the order of the table. If a value has commas or spaces that a
// line cannot hold, Line returns the JSON object instead.
func (t Table[C]) Line(c C) string {
	var parts []string
	for _, o := range t.given(c) {
		p := pair{o.name(), o.text(c)}
		if back, _ := t.splitLine(p.String()); back[0] != p {
			object, _ := t.JSON(c)
			return string(object)
		}
		parts = append(parts, p.String())
	}
	return strings.Join(parts, ",")
}

func (t Table[C]) splitLine(text string) (pairs []pair, faults []string) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(part, "=")
		p := pair{strings.TrimSpace(key), strings.TrimSpace(value)}
		last, on := len(pairs)-1, t.on(p.key)
		switch {
		case found:
			pairs = append(pairs, p)
		case on != "":
			pairs = append(pairs, pair{p.key, on})
		case p.key == "" || last < 0 || t.on(pairs[last].key) != "":
			faults = append(faults, fmt.Sprintf("%q: want key=value%s", part, t.orSwitches()))
		default:
			pairs[last].value += "," + p.key
		}
	}
	return pairs, faults
}

// on returns the value of a key that stands alone, or "".
func (t Table[C]) on(key string) string {
	for _, o := range t {
		if o.name() == key {
			return o.on()
		}
	}
	return ""
}

// orSwitches names the keys that may stand alone.
func (t Table[C]) orSwitches() string {
	var names []string
	for _, o := range t {
		if o.on() != "" {
			names = append(names, o.name())
		}
	}
	if names == nil {
		return ""
	}
	return " or a switch: " + strings.Join(names, ", ")
}
