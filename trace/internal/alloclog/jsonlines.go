package alloclog

import (
	"bytes"
	"encoding/json"
)

// jsonFormats are those with a JSON object on each line. Programs may have written others
// between them.
var jsonFormats = []struct {
	Format
	open func() parser
}{
	{Format{"Umpire replay", "line", []string{"key", "time_ns"}}, func() parser { return newUmpire() }},
	{Format{"CuPy memory hook", "line", []string{"key"}}, func() parser { return cupy{} }},
}

// object decodes a line of JSON; it returns false for one that is none.
func object(line []byte, into any) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && line[0] == '{' && json.Unmarshal(line, into) == nil
}

// comment reports whether a line is there for people.
func comment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}
