package bufslab

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code     = regexp.MustCompile("(?s)```.*?```")
	notWords = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Each link of a page leads to a file that is there, and to a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		for _, l := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, page), ""), -1) {
			if strings.Contains(l[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(l[1], "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if heading != "" && !anchors(read(t, to))[heading] {
				t.Errorf("%s: %s has no heading #%s", page, to, heading)
			}
		}
	}
}

// pages returns the pages of this module that people read.
func pages(t *testing.T) (list []string) {
	t.Helper()
	list, _ = filepath.Glob("*.md")
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			list = append(list, path)
		}
		return err
	})
	if err != nil || len(list) < 10 {
		t.Fatalf("%d pages, %v", len(list), err)
	}
	return list
}

// anchors are the names by which links know the headings of a page.
func anchors(text string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			set[headingAnchor(heading)] = true
		}
	}
	return set
}

func headingAnchor(heading string) string {
	words := notWords.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
	return strings.ReplaceAll(words, " ", "-")
}

// The files that pages of the design name are where these say.
func TestDesignNamesFilesThatAreThere(t *testing.T) {
	file := regexp.MustCompile(`\b(?:[a-z0-9_]+/)+[a-z0-9_]+\.go\b`)
	for _, page := range pages(t) {
		if !strings.HasPrefix(page, filepath.Join("docs", "design")) {
			continue
		}
		for _, name := range file.FindAllString(read(t, page), -1) {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// docs/decisions.md stays short, and the tests that show its figures are there.
func TestDecisions(t *testing.T) {
	text := read(t, "docs/decisions.md")
	if n := strings.Count(text, "\n"); n > 400 {
		t.Errorf("%d lines", n)
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`\bTest\w+`).FindAllString(text, -1) {
		named[name] = true
	}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(read(t, path), -1) {
				delete(named, m[1])
			}
		}
		return err
	})
	if err != nil || len(named) > 0 {
		t.Errorf("there are no tests %v, %v", named, err)
	}
}
