package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTextBetweenTheCommentsIsReplaced(t *testing.T) {
	const before, after = "before\n<!-- bench programs -->\n", "<!-- end of programs -->\nafter\n"
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte(before+"old\n"+after), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"new\n", "newer\n"} {
		if err := Replace(file, "programs", text); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(file); string(got) != before+text+after {
			t.Errorf("the page is\n%s", got)
		}
	}
	if err := Replace(file, "counts", "new\n"); err == nil || !strings.Contains(err.Error(), "page.md") {
		t.Errorf("without the comments: %v", err)
	}
}
