package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress is a bar on a terminal, and nothing elsewhere. It is drawn
// between replays only, so that it costs them no time.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(replays int, stderr io.Writer) progress {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return progress{}
	}
	return progress{progressbar.NewOptions(replays, progressbar.OptionSetWriter(stderr),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())}
}

func (p progress) begin(trace, line string) {
	if p.bar != nil {
		p.bar.Describe(shortName(trace) + " " + line)
	}
}

// end counts a replay and wipes the bar, as something may be printed now.
func (p progress) end() {
	if p.bar != nil {
		p.bar.Add(1)
		p.bar.Clear()
	}
}
