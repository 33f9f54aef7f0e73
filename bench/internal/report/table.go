package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Row is a line of a Markdown table.
func Row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// Rule is the line beneath a table's head: text columns, and then figures.
func Rule(text, figures int) string {
	return "|" + strings.Repeat("---|", text) + strings.Repeat("--:|", figures) + "\n"
}

// Load says what others do on this machine, where that can be known.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	load, _, _ := strings.Cut(string(text), " ")
	return ", load " + load + " before"
}

// Rounds says where figures come from. Load was called before they were taken.
func Rounds(n int, load string) string {
	return fmt.Sprintf("Medians (and quartiles) of %d rounds, %s on %s/%s, %d processors%s.\n",
		n, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load)
}
