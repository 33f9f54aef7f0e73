package optline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// JSON returns the object that [Table.Parse] reads back to c: every key that is
// not zero, in the order of the table.
func (t Table[C]) JSON(c C) (object []byte, faults []string) {
	var members []string
	for _, o := range t.given(c) {
		text := o.text(c)
		if !o.bare() || !json.Valid([]byte(text)) { // the word none of a number needs quotes
			if !utf8.ValidString(text) {
				faults = append(faults, fmt.Sprintf("%s: %q is not UTF-8, and JSON is", o.name(), text))
			}
			quoted, _ := json.Marshal(text) // cannot fail for a string
			text = string(quoted)
		}
		members = append(members, fmt.Sprintf("%q:%s", o.name(), text))
	}
	return []byte("{" + strings.Join(members, ",") + "}"), faults
}

// splitJSON walks the object token by token, as a map would hide repeated keys.
func splitJSON(text []byte) (pairs []pair, faults []string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if brace, err := d.Token(); err != nil {
		return nil, []string{"JSON: " + err.Error()}
	} else if brace != json.Delim('{') {
		return nil, []string{fmt.Sprintf("JSON: want an object, not %.40s", text)}
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
	return pairs, append(faults, endOfJSON(d)...)
}

// endOfJSON checks that the closing brace is next, and nothing after it.
func endOfJSON(d *json.Decoder) []string {
	if _, err := d.Token(); err != nil {
		return []string{"JSON: " + err.Error()}
	}
	if _, err := d.Token(); err != io.EOF {
		return []string{"JSON: something follows the object"}
	}
	return nil
}
