package trace

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"
)

// docs/recording.md has the columns of a trace in a table, and Python that writes one.
func TestTheFileAsThePageHasIt(t *testing.T) {
	page, err := os.ReadFile("../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := bytes.Cut(page, []byte("| column | has |\n|---|---|\n"))
	table, _, _ = bytes.Cut(table, []byte("\n\n"))
	var named []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\w+) \|`).FindAllSubmatch(table, -1) {
		named = append(named, string(row[1]))
	}
	if !slices.Equal(named, columns) {
		t.Errorf("the page has the columns %q", named)
	}
	program := regexp.MustCompile("(?s)```python\n(.*?)```\n").FindSubmatch(page)
	if program == nil {
		t.Fatal("the page has no Python")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return // go test needs Go alone
	}
	const calls = "allocated(10, 5)\nallocated(20, 0)\nfreed(10)\nallocated(10, 7)\nfreed(10)\n"
	out, err := exec.Command(python, "-c", string(program[1])+calls).Output()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(out), "t.csv")
	if err != nil || got.Allocs != 3 || got.Frees != 2 || got.PeakLiveBytes != 7 {
		t.Errorf("%s%+v, %v", out, got, err)
	}
}
