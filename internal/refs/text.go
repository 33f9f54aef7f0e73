package refs

import (
	"fmt"
	"strconv"
	"strings"
)

// Text returns the text of n: a prefix, the number of the table in 16 digits, a hyphen and the other
// number.
func (n Name) Text(prefix string) string { return fmt.Sprintf("%s%016x-%x", prefix, n.Table, n.Number) }

// Parse reads the text that Text returns for a prefix, and no other: of several spellings of a number one
// is ours. So what is no number need not be told from a number here: no name has that text.
func Parse(prefix, text string) (n Name, ok bool) {
	table, number, _ := strings.Cut(strings.TrimPrefix(text, prefix), "-")
	n.Table, _ = strconv.ParseUint(table, 16, 64)
	n.Number, _ = strconv.ParseUint(number, 16, 64)
	if n.Text(prefix) != text {
		return Name{}, false
	}
	return n, true
}
