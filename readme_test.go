package bufslab

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// between returns the text from the end of begin to the beginning of end.
func between(t *testing.T, text, begin, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, begin)
	body, _, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("there is no %q before a %q", begin, end)
	}
	return body
}

// The README's first program is the Example beside this file, so that it runs and its
// output is what the README says.
func TestTheProgramInTheReadmeIsTheExample(t *testing.T) {
	readme, example := read(t, "README.md"), read(t, "example_test.go")
	program := between(t, readme, "```go\n", "```\n")
	if got, want := between(t, program+"end", "func main() {\n", "}\nend"), between(t, example, "func Example() {\n", "\t// Output:\n"); got != want {
		t.Errorf("README has\n%s\nthe Example\n%s", got, want)
	}
	output := strings.ReplaceAll(between(t, example, "\t// Output:\n", "}\n"), "\t// ", "")
	if !strings.Contains(readme, "```\n"+output+"```\n") {
		t.Errorf("README does not show the output\n%s", output)
	}
	if before, _, _ := strings.Cut(readme, "```go\n"); strings.Count(before, "\n") > 25 {
		t.Error("the README's first program begins after line 25")
	}
}

// What the README says of whole programs, by heap and mmap, ends a line of the same program in
// docs/benchmarks.md.
func TestTheProgramsInTheReadmeAreThoseOfTheDocumentation(t *testing.T) {
	const begin, end = "<!-- bench programs -->\n", "<!-- end of programs -->\n"
	table := strings.Split(between(t, read(t, "docs/benchmarks.md"), begin, end), "\n")
	lines := strings.Split(strings.TrimSpace(between(t, read(t, "README.md"), begin, end)), "\n")
	if len(lines) != 12 {
		t.Fatalf("%d lines, not a head and ten", len(lines))
	}
	for _, line := range lines[2:] {
		name, ours, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !slices.ContainsFunc(table, func(s string) bool {
			return strings.HasPrefix(s, "| "+name+" | ") && strings.HasSuffix(s, " | "+ours)
		}) {
			t.Errorf("docs/benchmarks.md does not say %s", line)
		}
	}
}

// A terminal shows the README whole.
func TestTheReadmeIsShort(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(read(t, "README.md")), "\n")
	if len(lines) > 140 {
		t.Errorf("%d lines", len(lines))
	}
	for i, line := range lines {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("line %d has %d columns", i+1, n)
		}
	}
}

// docs/config.md has a row for every key, in the order of the keys, and no other.
func TestEveryKeyIsDocumented(t *testing.T) {
	_, err := slab.ParseConfig("?=")
	_, known, _ := strings.Cut(err.Error(), "known are ")
	var rows []string
	for _, table := range strings.Split(read(t, "docs/config.md"), "| key | means | default |\n|---|---|---|\n")[1:] {
		table, _, _ = strings.Cut(table, "\n\n")
		for line := range strings.Lines(table) {
			key, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " ")
			rows = append(rows, key)
		}
	}
	if got := strings.Join(rows, ", "); got != known {
		t.Errorf("docs/config.md has\n%s, the keys are\n%s", got, known)
	}
}
