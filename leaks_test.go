package bufslab

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The program in docs/leaks.md logs and crashes as the page says: all lines of it are there, in this order, but for
// addresses and the time. What bufslabvet says of it is tested in vet.
func TestTheCrashInLeaksIsReal(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("The program is built and run without -short, and on linux, whose fault it is.")
	}
	page := between(t, read(t, "docs/leaks.md"), "## My program died", "\n## ")
	path := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(path, []byte(between(t, page, "```go\n", "```\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", path).CombinedOutput()
	if err == nil {
		t.Error("the program has not crashed")
	}
	rest := masked(strings.ReplaceAll(string(out), filepath.Dir(path)+"/", ""))
	for line := range strings.Lines(masked(between(t, page, "$ go run .\n", "```\n"))) {
		if line = strings.TrimSpace(line); line == "..." {
			continue
		}
		_, behind, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("the program does not print, or not there: %s\n%s", line, out)
		}
		rest = behind
	}
}

// masked is a text without its addresses.
func masked(text string) string {
	return regexp.MustCompile("0x[0-9a-f]+").ReplaceAllString(text, "0x")
}
