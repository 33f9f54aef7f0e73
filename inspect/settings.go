package inspect

import (
	"regexp"
	"strings"
)

// A setting is a line of Pool.Explain: an option, its value, and what has set it.
type setting struct{ Key, Value, Source string }

// columns takes a line apart. Columns are two spaces apart at least, and a name may have as many.
var columns = regexp.MustCompile(`^(\S+) +(.*\S) {2,}(\S.*)$`)

// settingsOf parses what Pool.Explain says. notes are the lines that explain no option.
func settingsOf(text string) (list []setting, notes []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := columns.FindStringSubmatch(line); m != nil {
			list = append(list, setting{m[1], m[2], m[3]})
		} else {
			notes = append(notes, line)
		}
	}
	return list, notes
}
