package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress is a bar on a terminal, and nothing elsewhere. It is drawn when told to,
// and it is never told to while a replay is timed.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress returns a bar from 0 to total, or none where total is not known.
func newProgress(total int64, what string, stderr io.Writer, options ...progressbar.Option) progress {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || total <= 0 {
		return progress{}
	}
	return newBar(total, what, stderr, options...)
}

func newBar(total int64, what string, w io.Writer, options ...progressbar.Option) progress {
	return progress{progressbar.NewOptions64(total, append(options, progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what), progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionClearOnFinish())...)}
}

func (p progress) describe(what string) {
	if p.bar != nil {
		p.bar.Describe(what)
	}
}

func (p progress) set(n int64) {
	if p.bar != nil {
		p.bar.Set64(n)
	}
}

// clear wipes the bar, as something may be printed now.
func (p progress) clear() {
	if p.bar != nil {
		p.bar.Clear()
	}
}
