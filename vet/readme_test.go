package vet_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A block is what goes around the code of one in README.md, so that it is a function.
type block struct{ head, tail string }

// blocks are those of README.md, in their order.
var blocks = []block{
	{"func f(b slab.PooledBuffer, w io.Writer) {", ""},
	{"func f(pool *sync.Pool) []byte {\n\tb := pool.Get().(*bytes.Buffer)", ""},
	{"func f(b slab.PooledBuffer, err error) error {", "return nil"},
	{"func f(pool *slab.Pool, n int, use func([]byte) error) error {", ""},
	{"func f(pool *slab.Pool, n int, parse func([]byte) error) error {", ""},
	{"func f(pool *slab.Pool, n int, use func([]byte)) error {", "return nil"},
	{"func f(pool *slab.Pool, n int) ([]byte, error) {", ""},
	{"func f(pool *slab.Pool, more []byte) error {\n\tb, err := pool.GetBytes(10)\n\tif err != nil {\n\t\treturn err\n\t}", "return pool.Put(b)"},
	{"func f(b slab.PooledBuffer, sum func([]byte)) {", ""},
	{"func f(b slab.PooledBuffer, n int) (err error) {", "return b.Release()"},
	{"func f(pool *slab.Pool, n int) error {", "b.Release()\n\treturn nil"},
}

// writeReadme writes two packages for each block: what is wrong, up to a blank line, and what is right. Where there is
// no such line they differ in the lines that say so.
func writeReadme(t *testing.T, module string) {
	t.Helper()
	parts := strings.Split(read(t, "README.md"), "```go\n")[1:]
	if len(parts) != len(blocks) {
		t.Fatalf("README.md has %d blocks, not %d", len(parts), len(blocks))
	}
	for i, part := range parts {
		code, _, _ := strings.Cut(part, "```\n")
		wrong, right, two := strings.Cut(code, "\n\n")
		if !two {
			wrong, right = without(code, "// right"), without(code, "// wrong")
		}
		if !strings.Contains(wrong, "// wrong") || !strings.Contains(code, "right") {
			t.Errorf("block %d of README.md has nothing wrong, or nothing right", i+1)
		}
		for folder, code := range map[string]string{"wrong": wrong, "right": right} {
			code = strings.ReplaceAll(code, ", and later pool.Put; or return b", "")
			text := fmt.Sprintf("package readme\n\nimport (\n\t\"bytes\"\n\t\"io\"\n\t\"sync\"\n\n\t\"github.com/bufslab/bufslab/slab\"\n)\n\n"+
				"var (\n\t_ bytes.Buffer\n\t_ io.Writer\n\t_ sync.Pool\n\t_ *slab.Pool\n)\n\n%s\n%s\n\t%s\n}\n", blocks[i].head, code, blocks[i].tail)
			write(t, filepath.Join(module, folder, fmt.Sprint("readme", i+1), "readme.go"), text)
		}
	}
}

// without is a text without the lines that have a word.
func without(text, word string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.Contains(line, word) })
	return strings.Join(lines, "\n")
}

// README.md has a row for each function of package missed that has a mistake, and no other.
func TestTheReadmeNamesWhatIsMissed(t *testing.T) {
	text, page := read(t, "testdata/src/missed/missed.go"), read(t, "README.md")
	_, table, _ := strings.Cut(page, "| function | mistake |")
	table, _, _ = strings.Cut(table, "\n\n")
	var named, there []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\w+\.)?(\w+) \|`).FindAllStringSubmatch(table, -1) {
		named = append(named, row[2])
	}
	for _, f := range regexp.MustCompile(`(?m)^func (\(.*?\) )?(\w+)`).FindAllStringSubmatch(text, -1) {
		there = append(there, f[2])
	}
	there = slices.DeleteFunc(there, func(name string) bool { return name == "finish" }) // it is what is not called
	slices.Sort(named)
	if slices.Sort(there); len(there) == 0 || !slices.Equal(named, there) {
		t.Errorf("README.md has %q, package missed %q", named, there)
	}
}
