package unified

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The package comment has the table of states.
func TestTheCommentHasTheTable(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	want := "//\tstate          Host               HostMut          Device             DeviceMut\n"
	for s := range State(states) {
		line := fmt.Sprintf("//\t%-15s", s)
		for _, c := range []access{readHost, writeHost, readDevice, writeDevice} {
			to := table[s][c]
			does := map[action]string{none: "", zero: "zeros ", pull: "copy "}[to.do] + to.next.String()
			width := 19
			if c == writeHost {
				width = 17
			}
			line += fmt.Sprintf("%-*s", width, does)
		}
		want += strings.TrimRight(line, " ") + "\n"
		for c, to := range map[access]State{overwriteHost: HostDirty, overwriteDevice: DeviceDirty} {
			if table[s][c] != (cell{none, to}) {
				t.Errorf("in %v an overwrite %v", s, table[s][c])
			}
		}
	}
	if !strings.Contains(string(text), want) {
		t.Errorf("the table is\n%s", want)
	}
}
