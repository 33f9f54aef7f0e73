package report

import (
	"fmt"
	"os"
	"strings"
)

// Replace puts text between the two comments of that name in a Markdown file.
func Replace(file, name, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	updated, err := Between(string(old), name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(updated), 0o666)
}

// Between returns a page, old, with text between those comments.
func Between(old, name, text string) (string, error) {
	begin, end := "<!-- bench "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(old, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("there is no %q before a %q", begin, end)
	}
	return before + begin + text + end + after, nil
}
