package main

import (
	"fmt"
	"os"
	"strings"
)

// Files that have tables of ours, from this directory.
const (
	documentation = "../docs/benchmarks.md"
	readme        = "../README.md"
	kept          = "counts.json"
)

// replace puts text between the two comments of that name in a Markdown file.
func replace(file, name, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	updated, err := between(string(old), name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(updated), 0o666)
}

func between(old, name, text string) (string, error) {
	begin, end := "<!-- bench "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(old, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("there is no %q before a %q", begin, end)
	}
	return before + begin + text + end + after, nil
}
