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
		if back, _ := splitLine(p.String()); back[0] != p {
			object, _ := t.JSON(c)
			return string(object)
		}
		parts = append(parts, p.String())
	}
	return strings.Join(parts, ",")
}

func splitLine(text string) (pairs []pair, faults []string) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
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
