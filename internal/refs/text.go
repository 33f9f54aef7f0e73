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
// is ours.
func Parse(prefix, text string) (n Name, ok bool) {
	n, ok = numbersOf(prefix, text)
	if !ok || n.Text(prefix) != text {
		return Name{}, false
	}
	return n, true
}

func numbersOf(prefix, text string) (n Name, ok bool) {
	table, number, ok := strings.Cut(strings.TrimPrefix(text, prefix), "-")
	if !ok {
		return n, false
	}
	a, err := strconv.ParseUint(table, 16, 64)
	if err != nil {
		return n, false
	}
	b, err := strconv.ParseUint(number, 16, 64)
	return Name{a, b}, err == nil
}
