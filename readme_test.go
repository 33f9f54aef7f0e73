package bufslab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheProgramInTheReadmeRuns(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(readme), "```go\n")
	code, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed || strings.Count(before, "\n") > 25 {
		t.Fatalf("the README's code begins after line %d", strings.Count(before, "\n"))
	}
	path := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(path, []byte(code), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "run", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
