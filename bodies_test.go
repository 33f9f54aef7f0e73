package bufslab

import (
	"strings"
	"testing"
)

// The code in docs/bodies.md is that of Examples, so that it runs.
func TestTheCodeOfBodiesRuns(t *testing.T) {
	page, program := read(t, "docs/bodies.md"), strings.ReplaceAll(read(t, "iobuf/httpbody/upload_test.go"), "\t", "")
	blocks := strings.Split(page, "```go\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```\n")
		for _, part := range strings.Split(strings.ReplaceAll(code, "\t", ""), "\n}\n\n") {
			if part = strings.Trim(part, "\n"); !strings.Contains(program, part) {
				t.Errorf("no Example has\n%s", part)
			}
		}
	}
}
