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
type progress struct {
	bar   *progressbar.ProgressBar
	began time.Time
}

// untimed is how long a bar shows nothing of how far it is: a rate of less time than that is
// one of the first read, of gigabytes a second.
const untimed = 500 * time.Millisecond

// narrow is how wide a terminal is that has room for a bar and what it says. The library shortens nothing but the bar.
const narrow = 60

// newProgress returns a bar from 0 to total, or none where total is not known or the terminal is narrow.
func newProgress(total int64, what string, stderr io.Writer, options ...progressbar.Option) progress {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || total <= 0 {
		return progress{}
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width < narrow {
		return progress{}
	}
	return newBar(total, what, stderr, options...)
}

func newBar(total int64, what string, w io.Writer, options ...progressbar.Option) progress {
	bar := progressbar.NewOptions64(total, append(options, progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what), progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionClearOnFinish())...)
	bar.StartWithoutRender() // else time begins with the first set
	return progress{bar: bar, began: time.Now()}
}

func (p progress) describe(what string) {
	if p.bar != nil {
		p.bar.Describe(what)
	}
}

func (p progress) set(n int64) {
	if p.bar != nil && time.Since(p.began) > untimed {
		p.bar.Set64(n)
	}
}

// clear wipes the bar, as something may be printed now.
func (p progress) clear() {
	if p.bar != nil {
		p.bar.Clear()
	}
}
